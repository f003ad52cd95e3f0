// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/instances.h"

#include "test.h"

/* The first three are labels; then paths of the crate's own strings, and of other crates'. */
enum { SIZE_ESTIMATE, SYMBOL_NAME, TYPECK, ONE, TWO, FOREIGN_ONE, FOREIGN_TWO, FOREIGN_OTHER };

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {"size_estimate", "symbol_name", "typeck", "a::one",
					    "a::two",	     "a::one",	    "a::two", "core[12]"};

	assert_in_range(id, 0, N_OF(texts) - 1);
	return texts[id];
}

static const struct trace_texts texts = {.text = text_of};

static uint32_t asked;

static bool keyed(const void *ctx, uint32_t label)
{
	asked++;
	return label != TYPECK;
}

static void foreign(struct instances *i, uint32_t label, uint32_t path, int n)
{
	for (; n; n--)
		assert_int_equal(instances__foreign(i, label, path), 0);
}

/* Instances made of two items, and of none. */
static void made(struct instances *i, uint64_t one, uint64_t two)
{
	struct instances_made items[] = {
		{.item = TRACE_NO_STRING, .made = 7}, {.item = ONE}, {.item = TWO}};

	assert_int_equal(instances__made(i, &texts, items, N_OF(items)), 0);
	assert_int_equal(items[0].made, 0);
	assert_int_equal(items[1].made, one);
	assert_int_equal(items[2].made, two);
}

static void the_least_of_all_queries_was_made(void **state)
{
	struct instances i = {.keyed = keyed};

	foreign(&i, SIZE_ESTIMATE, FOREIGN_ONE, 4);
	foreign(&i, SYMBOL_NAME, FOREIGN_ONE, 9);
	/* Only referred to. */
	foreign(&i, SYMBOL_NAME, FOREIGN_TWO, 5);
	/* A definition without a row. */
	foreign(&i, SIZE_ESTIMATE, FOREIGN_OTHER, 2);
	foreign(&i, SYMBOL_NAME, FOREIGN_OTHER, 2);
	made(&i, 4, 0);
	instances__destroy(&i);
}

static void one_query_does_not_say_what_was_made(void **state)
{
	struct instances i = {.keyed = keyed};

	foreign(&i, SYMBOL_NAME, FOREIGN_ONE, 9);
	made(&i, 0, 0);
	/* The other one was executed about the crate's own items. */
	assert_int_equal(instances__own(&i, SIZE_ESTIMATE), 0);
	made(&i, 0, 0);
	foreign(&i, SIZE_ESTIMATE, FOREIGN_ONE, 1);
	foreign(&i, SIZE_ESTIMATE, FOREIGN_TWO, 2);
	made(&i, 1, 0);
	instances__destroy(&i);
}

static void queries_with_other_keys_do_not_count(void **state)
{
	struct instances i = {.keyed = keyed}, none = {};

	asked = 0;
	assert_true(instances__counts(&i, SYMBOL_NAME));
	assert_true(instances__counts(&i, SYMBOL_NAME));
	assert_false(instances__counts(&i, TYPECK));
	assert_int_equal(instances__own(&i, TYPECK), 0);
	assert_int_equal(asked, 2);
	foreign(&i, SYMBOL_NAME, FOREIGN_ONE, 9);
	made(&i, 0, 0);
	assert_false(instances__counts(&none, SYMBOL_NAME));
	made(&none, 0, 0);
	instances__destroy(&i);
	instances__destroy(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_of_all_queries_was_made),
		cmocka_unit_test(one_query_does_not_say_what_was_made),
		cmocka_unit_test(queries_with_other_keys_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
