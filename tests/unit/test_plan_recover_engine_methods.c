// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/engine_methods.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

#define N      40
#define FIRST  4
#define OFFSET 0x20
#define OWN    39 /* it executes by itself */

/* The findings in a variant of the assembled tests/fixtures/query_engine.s. */
struct result {
	struct elf_image *img;
	struct engine_methods methods;
};

static struct result found(const char *name, uint32_t n)
{
	_known_symbols_ struct known_symbols known = {0};
	_bounds_ struct bounds bounds = {0};
	struct result r = {0};

	assert_int_equal(image_of(fixture(name), &r.img), 0);
	assert_int_equal(bounds__find(r.img, &bounds), 0);
	assert_int_equal(known_symbols__find(r.img, &known), 0);
	assert_int_equal(engine_methods__find(r.img, &bounds, &known, n, &r.methods), 0);
	return r;
}

static void result__destroy(struct result *r)
{
	engine_methods__destroy(&r->methods);
	elf_image__free(r->img);
}

static void methods_call_the_functions_that_number_queries(void **state)
{
	__cleanup(result__destroy) struct result r = found("query_engine.so", N);
	char name[16];

	assert_int_equal(r.methods.n, N);
	assert_int_equal(r.methods.first, FIRST);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "wrapper_%u", 10 + i);
		assert_int_equal(r.methods.items[i].wrapper, symbol(r.img, name)->addr);
		assert_int_equal(r.methods.items[i].executes, i == OWN);
	}
}

static void the_number_is_at_one_distance_in_all_vtables(void **state)
{
	__cleanup(result__destroy) struct result r = found("query_engine.so", N);
	int64_t at;

	assert_int_equal(engine_methods__offset(&r.methods), OFFSET);
	assert_true(engine_methods__vtable(&r.methods, 0, OFFSET, &at));
	assert_int_equal(at, -0x58 + 0x18);
	assert_true(engine_methods__vtable(&r.methods, OWN, OFFSET, &at));
	assert_int_equal(at, -0x18 - 0x40 + 0x18);
}

static void a_number_that_is_missing_ends_it(void **state)
{
	__cleanup(result__destroy) struct result r = found("query_engine_skips.so", N);

	assert_int_equal(r.methods.n, 0);
	assert_int_equal(engine_methods__offset(&r.methods), UINT32_MAX);
}

static void other_numbers_of_methods_are_not_found(void **state)
{
	__cleanup(result__destroy) struct result more = found("query_engine.so", N + 1);
	__cleanup(result__destroy) struct result less = found("query_engine.so", N - 1);

	assert_int_equal(more.methods.n, 0);
	/* There are two ways to take 39 of 40. */
	assert_int_equal(less.methods.n, 0);
}

static void of_two_tables_none_is_taken(void **state)
{
	__cleanup(result__destroy) struct result r = found("query_engine_twice.so", N);

	assert_int_equal(r.methods.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_call_the_functions_that_number_queries),
		cmocka_unit_test(the_number_is_at_one_distance_in_all_vtables),
		cmocka_unit_test(a_number_that_is_missing_ends_it),
		cmocka_unit_test(other_numbers_of_methods_are_not_found),
		cmocka_unit_test(of_two_tables_none_is_taken),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
