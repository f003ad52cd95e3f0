// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/vtables.h"

#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

#define QUERIES 40
#define FIRST	10

struct result {
	struct elf_image *img;
	struct bounds bounds;
	struct recovered names;
	const char *problem;
};

/* The assembled tests/fixtures/vtables.s. */
static struct result recovered(const char *name)
{
	struct result r = {0};

	assert_int_equal(image_of(fixture(name), &r.img), 0);
	assert_int_equal(bounds__find(r.img, &r.bounds), 0);
	assert_int_equal(vtables__recover(r.img, &r.bounds, &r.names, &r.problem), 0);
	return r;
}

static void result__destroy(struct result *r)
{
	recovered__destroy(&r->names);
	bounds__destroy(&r->bounds);
	elf_image__free(r->img);
}

/* The text behind "query_" is the number of the fixture's symbols. */
static void assert_name(struct result *r, const struct recovered_name *n)
{
	struct name_info info;
	char symbol_name[64];
	const char *prefix;

	name_classify(r->names.text + n->at, &info);
	assert_int_equal(info.part, NAME_PART_ENTRY);
	prefix = info.kind == NAME_WRAPPER_NON_INCR ? "non_incr"
		 : info.kind == NAME_WRAPPER_INCR   ? "incr"
						    : "provider";
	assert_true(info.kind == NAME_PROVIDER || *prefix != 'p');
	assert_int_equal(info.query_len, strlen("query_10"));
	snprintf(symbol_name, sizeof(symbol_name), "%s_%.2s", prefix,
		 info.query + strlen("query_"));
	assert_int_equal(symbol(r->img, symbol_name)->addr, n->addr);
}

static void assert_named(const char *name)
{
	__cleanup(result__destroy) struct result r = recovered(name);

	assert_null(r.problem);
	assert_int_equal(r.names.n, 3 * QUERIES);
	for (uint32_t i = 0; i < r.names.n; i++)
		assert_name(&r, &r.names.items[i]);
}

static void queries_are_named(void **state)
{
	assert_named("vtables.so");
}

static void wrappers_may_be_in_a_table_of_their_own(void **state)
{
	assert_named("vtables_engine.so");
}

/* Of the queries, how many have a loader; each must be their own. */
static uint32_t loaders_of(const char *name)
{
	__cleanup(result__destroy) struct result r = recovered(name);
	uint32_t n = 0;

	assert_null(r.problem);
	for (uint32_t i = 0; i < r.names.n; i++) {
		const char *text = r.names.text + r.names.items[i].at;
		const char *query = strstr(text, "query_impl8query_");
		char symbol_name[16];

		if (!strstr(text, "17make_query_vtable"))
			continue;
		assert_non_null(query);
		snprintf(symbol_name, sizeof(symbol_name), "load_%.2s",
			 query + strlen("query_impl8query_"));
		assert_int_equal(symbol(r.img, symbol_name)->addr, r.names.items[i].addr);
		n++;
	}
	assert_int_equal(r.names.n, 3 * QUERIES + n);
	return n;
}

static void functions_that_load_are_of_the_query_they_are_listed_for(void **state)
{
	assert_int_equal(loaders_of("vtables.so"), 0);
	assert_int_equal(loaders_of("vtables_loads.so"), QUERIES / 5);
}

static void those_that_may_be_of_another_query_are_left_out(void **state)
{
	assert_int_equal(loaders_of("vtables_loads_before.so"), 0);
	assert_int_equal(loaders_of("vtables_loads_both.so"), 0);
}

static void assert_refused(const char *name, const char *problem)
{
	__cleanup(result__destroy) struct result r = recovered(name);

	assert_non_null(r.problem);
	assert_non_null(strstr(r.problem, problem));
	assert_int_equal(r.names.n, 0);
}

static void what_does_not_fit_is_refused(void **state)
{
	assert_refused("vtables_fewer.so", "another number of providers");
	assert_refused("vtables_shared.so", "not every query");
	assert_refused("vtables_same.so", "not every query");
	assert_refused("vtables_moved.so", "not every query");
	assert_refused("parts.so", "no function");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_are_named),
		cmocka_unit_test(wrappers_may_be_in_a_table_of_their_own),
		cmocka_unit_test(functions_that_load_are_of_the_query_they_are_listed_for),
		cmocka_unit_test(those_that_may_be_of_another_query_are_left_out),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
