// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_engine.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

#define N     40
#define FIRST 4

/* The names recovered from a variant of the assembled tests/fixtures/query_engine.s. */
struct result {
	struct elf_image *img;
	struct recovered names;
	struct query_numbers numbers;
	const char *problem;
};

static struct result recovered(const char *name)
{
	_bounds_ struct bounds bounds = {0};
	struct result r = {.problem = ""};

	assert_int_equal(image_of(fixture(name), &r.img), 0);
	assert_int_equal(bounds__find(r.img, &bounds), 0);
	assert_true(query_engine__is_in(r.img));
	assert_int_equal(query_engine__recover(r.img, &bounds, &r.names, &r.numbers, &r.problem),
			 0);
	return r;
}

static void result__destroy(struct result *r)
{
	recovered__destroy(&r->names);
	query_numbers__destroy(&r->numbers);
	elf_image__free(r->img);
}

static void each_method_s_function_is_its_query_s_wrapper(void **state)
{
	__cleanup(result__destroy) struct result r = recovered("query_engine.so");
	struct name_info info;
	char name[16];

	assert_null(r.problem);
	assert_int_equal(r.names.n, 2 * N);
	for (uint32_t i = 0; i < r.names.n; i++) {
		name_classify(r.names.text + r.names.items[i].at, &info);
		assert_int_equal(info.kind, i % 2 ? NAME_WRAPPER_INCR : NAME_WRAPPER_NON_INCR);
		snprintf(name, sizeof(name), "wrapper_%.2s", info.query + strlen("query_"));
		assert_int_equal(r.names.items[i].addr, symbol(r.img, name)->addr);
	}
}

static void each_has_its_number(void **state)
{
	__cleanup(result__destroy) struct result r = recovered("query_engine.so");
	char name[16];

	assert_int_equal(r.numbers.n, N);
	assert_int_equal(r.numbers.offset, 0x20);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "wrapper_%u", 10 + i);
		assert_int_equal(query_numbers__of(&r.numbers, symbol(r.img, name)->addr)->number,
				 FIRST + i);
	}
}

static void assert_refused(const char *name, const char *problem)
{
	__cleanup(result__destroy) struct result r = recovered(name);

	assert_non_null(r.problem);
	assert_non_null(strstr(r.problem, problem));
	assert_int_equal(r.names.n, 0);
	assert_int_equal(r.numbers.n, 0);
}

static void what_does_not_fit_is_refused(void **state)
{
	assert_refused("query_engine_skips.so", "do not follow one another");
	assert_refused("query_engine_twice.so", "were not found");
	assert_refused("query_engine_renamed.so", "names of the numbers");
	assert_refused("query_engine_fewer.so", "another number of providers");
}

static void other_compilers_have_no_such_trait(void **state)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(image_of(fixture("vtables.so"), &img), 0);
	assert_false(query_engine__is_in(img));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_method_s_function_is_its_query_s_wrapper),
		cmocka_unit_test(each_has_its_number),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(other_compilers_have_no_such_trait),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
