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

/* The one item of executions of 40 ms, or of samples of 1 ms. */
static struct compare_item added(unsigned int executions, unsigned int samples)
{
	const struct trace_texts names = {.text = text_of, .place = place_of};
	const struct trace_span span = {.end_ns = 50 * MS, .label = 1};
	_items_ struct items *items = NULL;
	struct compare_labels labels = {};
	struct compare_items to = {};
	struct compare_item item;
	uint32_t line = 0;

	assert_int_equal(items__new(&names, &items), 0);
	while (executions--)
		assert_int_equal(
			items__span(items, &span, &(struct trace_times){.self_ns = 40 * MS}, 0), 0);
	while (samples--)
		assert_int_equal(items__sample(items, 1, 0, TRACE_SAMPLE_CPU, MS), 0);
	assert_int_equal(compare_items__add(&to, &labels, 3, COMPARE_NEW, items, &names), 0);
	assert_int_equal(to.n, 1);
	item = to.all[0];
	assert_string_equal(labels.texts[item.item], "app::f");
	assert_string_equal(labels.texts[item.query], "typeck");
	assert_string_equal(compare_items__file(&to, &labels, item.item, &line), "src/lib.rs");
	assert_int_equal(line, 7);
	assert_null(compare_items__file(&to, &labels, item.query, &line));
	compare_items__clear(&to);
	compare_labels__clear(&labels);
	return item;
}

TEST_CASE(times_by_samples_have_an_error)
{
	struct compare_item item = added(2, 0);

	assert_int_equal(item.trace, 3);
	assert_int_equal(item.executions, 2);
	assert_int_equal(item.self_ns, 80 * MS);
	assert_int_equal(item.cpu_ns, 80 * MS);
	assert_int_equal(item.error_ns, 0);
	item = added(0, 100);
	assert_int_equal(item.executions, 0);
	assert_int_equal(item.self_ns, 100 * MS);
	assert_int_equal(item.cpu_ns, 100 * MS);
	assert_int_equal(item.error_ns, 10 * MS);
}

TEST_MAIN(NULL, NULL)
