// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_items.h"

#include "test.h"

#define MS 1000000ull

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {"app::f", "typeck", "src/lib.rs"};

	return texts[id];
}

static const struct trace_place *place_of(const void *ctx, uint32_t id)
{
	static const struct trace_place place = {.file = 2, .line = 7};

	return id ? NULL : &place;
}

/* Of 40 ms, samples show a part to be typeck's own, or there is none. */
static struct compare_item added(uint32_t own, uint32_t all, uint64_t executions)
{
	const struct trace_texts names = {.text = text_of, .place = place_of};
	const struct trace_span span = {.end_ns = 50 * MS, .label = 1};
	_items_ struct items *items = NULL;
	struct compare_labels labels = {};
	struct compare_items to = {};
	struct own_shares shares = {};
	struct compare_item item;
	uint32_t line = 0;

	assert_int_equal(items__new(&names, &items), 0);
	while (executions--)
		assert_int_equal(
			items__span(items, &span, &(struct trace_times){.self_ns = 40 * MS}, 0), 0);
	assert_non_null(table__get(&shares.of, 1, .own = own, .all = all));
	items__divide(items, &shares);
	assert_int_equal(compare_items__add(&to, &labels, 3, COMPARE_NEW, items, &names), 0);
	assert_int_equal(to.n, 1);
	item = to.all[0];
	assert_string_equal(labels.texts[item.item], "app::f");
	assert_string_equal(labels.texts[item.query], "typeck");
	assert_string_equal(compare_items__file(&to, &labels, item.item, &line), "src/lib.rs");
	assert_int_equal(line, 7);
	assert_null(compare_items__file(&to, &labels, item.query, &line));
	assert_false(compare_items__is_charged(&to, &item));
	compare_items__clear(&to);
	compare_labels__clear(&labels);
	own_shares__destroy(&shares);
	return item;
}

static void the_part_of_a_query_is_uncertain_for_one_item(void **state)
{
	struct compare_item item = added(90000, 100000, 1);

	assert_int_equal(item.trace, 3);
	assert_int_equal(item.executions, 1);
	assert_int_equal(item.self_ns, 40 * MS);
	assert_in_range(item.own_cpu_ns, 36 * MS - 1000, 36 * MS + 1000);
	assert_in_range(item.error_ns, 2 * MS - 1000, 2 * MS + 1000);
	item = added(0, 0, 2);
	assert_int_equal(item.own_cpu_ns, 80 * MS);
	assert_int_equal(item.error_ns, 80 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_part_of_a_query_is_uncertain_for_one_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
