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

TEST_CASE(each_method_s_function_is_its_query_s_wrapper)
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

TEST_CASE(each_has_its_number)
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

TEST_CASE(what_does_not_fit_is_refused)
{
	assert_refused("query_engine_skips.so", "do not follow one another");
	assert_refused("query_engine_twice.so", "were not found");
	assert_refused("query_engine_renamed.so", "names of the numbers");
	assert_refused("query_engine_fewer.so", "another number of providers");
}

TEST_CASE(other_compilers_have_no_such_trait)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(image_of(fixture("vtables.so"), &img), 0);
	assert_false(query_engine__is_in(img));
}

/* ---- Recover variant names ------------------------------------------------------------------- */

#define DEBUG                                                                    \
	"_RNvXs8_NtNtCs7_12rustc_middle9dep_graph8dep_nodeNtB5_7DepKindNtNtCs6_" \
	"4core3fmt5Debug3fmt"
#define VARIANT_NAMES_FIRST 4
#define VARIANT_NAMES_N	    40

/* Of a function of the assembled tests/fixtures/query_engine.s. */
static struct variant_names names_of(const char *function, struct elf_image **img)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct code code = {0};
	struct variant_names names = {.n = 1};
	const struct elf_symbol *sym;

	assert_int_equal(image_of(fixture("query_engine.so"), img), 0);
	assert_int_equal(code_decoder__new(*img, &decoder), 0);
	sym = symbol(*img, function);
	assert_int_equal(variant_names__read(*img, decoder,
					     (struct code_region){sym->addr, sym->size}, &code,
					     &names),
			 0);
	code__free(&code);
	return names;
}

TEST_CASE(each_number_has_its_name)
{
	_elf_image_ struct elf_image *img = NULL;
	struct variant_names names = names_of(DEBUG, &img);
	char name[16];

	assert_true(names.n >= VARIANT_NAMES_FIRST + VARIANT_NAMES_N);
	assert_memory_equal(names.items[0].text, "Null", 4);
	assert_int_equal(names.items[0].len, 4);
	for (uint32_t i = 0; i < VARIANT_NAMES_N; i++) {
		snprintf(name, sizeof(name), "query_%u", i + 10);
		assert_int_equal(names.items[VARIANT_NAMES_FIRST + i].len, strlen(name));
		assert_memory_equal(names.items[VARIANT_NAMES_FIRST + i].text, name, strlen(name));
	}
}

TEST_CASE(a_text_that_is_read_elsewhere_is_unknown)
{
	_elf_image_ struct elf_image *img = NULL;
	struct variant_names names = names_of(DEBUG, &img);

	assert_null(names.items[VARIANT_NAMES_FIRST - 1].text);
}

TEST_CASE(a_function_without_a_switch_has_none)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(names_of("finish", &img).n, 0);
}

/* ---- Recover engine methods ------------------------------------------------------------------ */

#define ENGINE_METHODS_N     40
#define ENGINE_METHODS_FIRST 4
#define OFFSET		     0x20
#define OWN		     39 /* it executes by itself */

/* The findings in a variant of the assembled tests/fixtures/query_engine.s. */
struct engine_methods_result {
	struct elf_image *img;
	struct engine_methods methods;
};

static struct engine_methods_result found(const char *name, uint32_t n)
{
	_known_symbols_ struct known_symbols known = {0};
	_bounds_ struct bounds bounds = {0};
	struct engine_methods_result r = {0};

	assert_int_equal(image_of(fixture(name), &r.img), 0);
	assert_int_equal(bounds__find(r.img, &bounds), 0);
	assert_int_equal(known_symbols__find(r.img, &known), 0);
	assert_int_equal(engine_methods__find(r.img, &bounds, &known, n, &r.methods), 0);
	return r;
}

static void engine_methods_result__destroy(struct engine_methods_result *r)
{
	engine_methods__destroy(&r->methods);
	elf_image__free(r->img);
}

TEST_CASE(methods_call_the_functions_that_number_queries)
{
	__cleanup(engine_methods_result__destroy) struct engine_methods_result r =
		found("query_engine.so", ENGINE_METHODS_N);
	char name[16];

	assert_int_equal(r.methods.n, ENGINE_METHODS_N);
	assert_int_equal(r.methods.first, ENGINE_METHODS_FIRST);
	for (uint32_t i = 0; i < ENGINE_METHODS_N; i++) {
		snprintf(name, sizeof(name), "wrapper_%u", 10 + i);
		assert_int_equal(r.methods.items[i].wrapper, symbol(r.img, name)->addr);
		assert_int_equal(r.methods.items[i].executes, i == OWN);
	}
}

TEST_CASE(the_number_is_at_one_distance_in_all_vtables)
{
	__cleanup(engine_methods_result__destroy) struct engine_methods_result r =
		found("query_engine.so", ENGINE_METHODS_N);
	int64_t at;

	assert_int_equal(engine_methods__offset(&r.methods), OFFSET);
	assert_true(engine_methods__vtable(&r.methods, 0, OFFSET, &at));
	assert_int_equal(at, -0x58 + 0x18);
	assert_true(engine_methods__vtable(&r.methods, OWN, OFFSET, &at));
	assert_int_equal(at, -0x18 - 0x40 + 0x18);
}

TEST_CASE(a_number_that_is_missing_ends_it)
{
	__cleanup(engine_methods_result__destroy) struct engine_methods_result r =
		found("query_engine_skips.so", ENGINE_METHODS_N);

	assert_int_equal(r.methods.n, 0);
	assert_int_equal(engine_methods__offset(&r.methods), UINT32_MAX);
}

TEST_CASE(other_numbers_of_methods_are_not_found)
{
	__cleanup(engine_methods_result__destroy) struct engine_methods_result more =
		found("query_engine.so", ENGINE_METHODS_N + 1);
	__cleanup(engine_methods_result__destroy) struct engine_methods_result less =
		found("query_engine.so", ENGINE_METHODS_N - 1);

	assert_int_equal(more.methods.n, 0);
	/* There are two ways to take 39 of 40. */
	assert_int_equal(less.methods.n, 0);
}

TEST_CASE(of_two_tables_none_is_taken)
{
	__cleanup(engine_methods_result__destroy) struct engine_methods_result r =
		found("query_engine_twice.so", ENGINE_METHODS_N);

	assert_int_equal(r.methods.n, 0);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
