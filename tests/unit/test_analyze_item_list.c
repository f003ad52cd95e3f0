// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/item_list.h"

#include "test.h"
#include "../fixtures/sample_items.h"

/* Item `id` of a compile, with one query that took `self_us`. */
static void add(struct items *items, uint32_t id, uint64_t self_us)
{
	const struct trace_span span = {.label = SI_TYPECK, .end_ns = 1};
	const struct trace_times times = {.self_ns = self_us * 1000};

	assert_int_equal(items__span(items, &span, &times, id), 0);
}

static struct items *new_items(void)
{
	struct items *items;

	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	return items;
}

static void check(const struct item_list *l, uint32_t i, uint32_t process, uint32_t item,
		  uint64_t self_us, uint64_t executions)
{
	assert_true(i < l->n);
	assert_int_equal(l->at[i].process, process);
	assert_int_equal(l->at[i].item, item);
	assert_int_equal(l->at[i].self_ns, self_us * 1000);
	assert_int_equal(l->at[i].executions, executions);
	assert_int_equal(l->at[i].most.label, SI_TYPECK);
	assert_int_equal(l->at[i].most.self_ns, self_us * 1000);
}

static void the_items_of_several_compiles_are_in_one_order(void **state)
{
	_items_ struct items *first = new_items(), *second = new_items(), *again = new_items();
	struct item_list l = {};

	add(first, SI_FUNCTION, 20);
	add(first, SI_METHOD, 30);
	add(first, SI_METHOD, 10);
	assert_int_equal(item_list__set(&l, 0, first), 0);
	assert_int_equal(l.n, 2);
	add(second, SI_FUNCTION, 30);
	add(second, SI_CRATE, 50);
	add(second, SI_MODULE, 1);
	assert_int_equal(item_list__set(&l, 7, second), 0);
	assert_int_equal(l.n, 5);
	check(&l, 0, 7, SI_CRATE, 50, 1);
	check(&l, 1, 0, SI_METHOD, 40, 2);
	check(&l, 2, 7, SI_FUNCTION, 30, 1);
	check(&l, 3, 0, SI_FUNCTION, 20, 1);
	check(&l, 4, 7, SI_MODULE, 1, 1);
	assert_int_equal(l.changes, 2);

	/* More is known of a compile than before. */
	add(again, SI_FUNCTION, 35);
	assert_int_equal(item_list__set(&l, 0, again), 0);
	assert_int_equal(l.n, 4);
	check(&l, 0, 7, SI_CRATE, 50, 1);
	check(&l, 1, 0, SI_FUNCTION, 35, 1);
	check(&l, 2, 7, SI_FUNCTION, 30, 1);
	check(&l, 3, 7, SI_MODULE, 1, 1);
	assert_int_equal(l.changes, 3);
	item_list__clear(&l);
	assert_int_equal(l.n, 0);
}

static void a_compile_without_items_adds_none(void **state)
{
	_items_ struct items *none = new_items();
	struct item_list l = {};

	assert_int_equal(item_list__set(&l, 3, none), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(l.changes, 1);
	item_list__clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_items_of_several_compiles_are_in_one_order),
		cmocka_unit_test(a_compile_without_items_adds_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
