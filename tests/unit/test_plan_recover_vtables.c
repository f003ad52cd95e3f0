// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/vtables.h"
#include "plan/recover/modes.h"

#include "plan/symbols/names.h"
#include "test.h"
#define LIBRARY "modes.so"
#include "../fixtures/image.h"

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

TEST_CASE(queries_are_named)
{
	assert_named("vtables.so");
}

TEST_CASE(wrappers_may_be_in_a_table_of_their_own)
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

TEST_CASE(functions_that_load_are_of_the_query_they_are_listed_for)
{
	assert_int_equal(loaders_of("vtables.so"), 0);
	assert_int_equal(loaders_of("vtables_loads.so"), QUERIES / 5);
}

TEST_CASE(those_that_may_be_of_another_query_are_left_out)
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

TEST_CASE(what_does_not_fit_is_refused)
{
	assert_refused("vtables_fewer.so", "another number of providers");
	assert_refused("vtables_shared.so", "not every query");
	assert_refused("vtables_same.so", "not every query");
	assert_refused("vtables_moved.so", "not every query");
	assert_refused("parts.so", "no function");
}

/* ---- Recover engine -------------------------------------------------------------------------- */

#define ENGINE_QUERIES 40

/* The assembled tests/fixtures/vtables.s, with and without a table of wrappers. */
static int find(const char *name, uint32_t n, struct engine_wrappers *table, struct elf_image **img)
{
	_bounds_ struct bounds bounds = {0};
	struct address_counts counts;

	assert_int_equal(image_of(fixture(name), img), 0);
	assert_int_equal(bounds__find(*img, &bounds), 0);
	assert_int_equal(addresses__count(*img, &bounds, &counts), 0);
	return engine__find(*img, &bounds, &counts, table, n);
}

TEST_CASE(wrappers_are_found)
{
	_elf_image_ struct elf_image *img = NULL;
	struct engine_wrappers table[ENGINE_QUERIES];

	assert_int_equal(find("vtables_engine.so", ENGINE_QUERIES, table, &img), 1);
	assert_int_equal(table[0].functions[0], symbol(img, "non_incr_10")->addr);
	assert_int_equal(table[0].functions[1], symbol(img, "incr_10")->addr);
	assert_int_equal(table[39].functions[0], symbol(img, "non_incr_49")->addr);
	assert_int_equal(table[39].functions[1], symbol(img, "incr_49")->addr);
}

TEST_CASE(tables_of_other_lengths_are_none)
{
	static const uint32_t lengths[] = {ENGINE_QUERIES - 1, ENGINE_QUERIES + 1};
	struct engine_wrappers table[ENGINE_QUERIES + 1];

	for (size_t i = 0; i < N_OF(lengths); i++) {
		_elf_image_ struct elf_image *img = NULL;

		assert_int_equal(find("vtables_engine.so", lengths[i], table, &img), 0);
	}
}

/* ---- Recover loaders ------------------------------------------------------------------------- */

/* The assembled tests/fixtures/modes.s. */
static struct loaders found;

static int setup(void **state)
{
	return image_setup(state) ?: loaders__find(img, &found);
}

static int teardown(void **state)
{
	loaders__destroy(&found);
	return image_teardown(state);
}

static bool has(const char *function)
{
	return loaders__has(&found, symbol(img, function)->addr);
}

TEST_GROUP(setup, teardown)

TEST_CASE(functions_that_load_and_their_callers_are_found)
{
	assert_true(has("loads"));
	assert_true(has("no_body"));
	assert_true(has("relay"));
}

TEST_CASE(other_functions_are_not)
{
	assert_false(has("plain"));
	assert_false(has("hashes"));
	assert_false(has("far"));
}

/* ---- Recover set providers ------------------------------------------------------------------- */

#define N 4

/* An assembled tests/fixtures/set_providers.s sets this for a query; NULL: nothing. */
static void assert_sets(const char *library, const char *query, uint32_t n, const char *expected)
{
	_elf_image_ struct elf_image *img = NULL;
	_bounds_ struct bounds bounds;
	uint64_t function = 0;

	assert_int_equal(image_of(fixture(library), &img), 0);
	assert_int_equal(bounds__find(img, &bounds), 0);
	assert_int_equal(set_providers__find(img, &bounds, symbol(img, "defaults")->addr, n, query,
					     &function),
			 expected ? 1 : 0);
	if (expected)
		assert_int_equal(function, symbol(img, expected)->addr);
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

TEST_CASE(the_place_has_the_name)
{
	assert_sets("set_providers.so", "spans_more", N, "own");
	/* It is the beginning of the other's name in memory, and nothing else is put there. */
	assert_sets("set_providers.so", "spans", N, "default_0");
	assert_sets("set_providers.so", "span", N, NULL);
	assert_sets("set_providers.so", "twice", N, NULL);
}

TEST_CASE(all_places_are_set)
{
	assert_sets("set_providers.so", "spans_more", N + 1, NULL);
}

TEST_CASE(few_places_may_be_unknown)
{
	assert_sets("set_providers_few.so", "spans_more", N + 28, "own");
	assert_sets("set_providers_many.so", "spans_more", N + 28, NULL);
}

TEST_CASE(two_functions_do_not_differ)
{
	assert_sets("set_providers_several.so", "spans_more", N, NULL);
	assert_sets("set_providers_several.so", "spans", N, "default_0");
}

/* ---- Recover modes --------------------------------------------------------------------------- */

static const char *const names[] = {"plain", "loads", "hashes"};
enum body { PLAIN, LOADS, HASHES, BODIES };

/* The assembled tests/fixtures/modes.s. */
static struct elf_image *modes_img;
static struct known_symbols known;
static struct plan_body bodies[BODIES];
static struct plan_query query;
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = &query,
	.n_queries = 1,
};

static int modes_setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("modes.so"), &modes_img) ||
	    known_symbols__find(modes_img, &known))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i] = (struct plan_body){.addr = symbol(modes_img, names[i])->addr};
	return 0;
}

static int modes_teardown(void **state)
{
	known_symbols__destroy(&known);
	elf_image__free(modes_img);
	return fixture_dir_teardown(state);
}

static void assert_modes(uint32_t non_incr, uint32_t incr, bool right)
{
	const char *problem = "";

	query.body_non_incr = non_incr;
	query.body_incr = incr;
	assert_int_equal(modes__check(modes_img, &known, &plan, &problem), 0);
	if (right)
		assert_null(problem);
	else
		assert_non_null(strstr(problem, "load or hash"));
}

TEST_GROUP(modes_setup, modes_teardown)

TEST_CASE(bodies_that_load_or_hash_are_incremental)
{
	assert_modes(PLAIN, LOADS, true);
	assert_modes(PLAIN, HASHES, true);
	assert_modes(PLAN_NONE, HASHES, true);
}

TEST_CASE(one_wrapper_s_body_serves_both)
{
	query.wrapper_non_incr = query.wrapper_incr = 0x1000;
	assert_modes(LOADS, LOADS, true);
	query.wrapper_non_incr = 0x2000;
	assert_modes(LOADS, LOADS, false);
	query.wrapper_non_incr = query.wrapper_incr = 0;
}

TEST_CASE(swapped_modes_are_refused)
{
	assert_modes(LOADS, PLAIN, false);
	assert_modes(HASHES, PLAIN, false);
	assert_modes(HASHES, LOADS, false);
}

TEST_CASE(one_that_does_is_needed)
{
	assert_modes(PLAIN, PLAIN, false);
	assert_modes(PLAIN, PLAN_NONE, false);
}

TEST_CASE(it_may_be_what_the_body_calls)
{
	bodies[PLAIN].outlined = LOADS + 1;
	assert_modes(PLAN_NONE, PLAIN, true);
	assert_modes(PLAIN, HASHES, false);
	bodies[PLAIN].outlined = 0;
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
