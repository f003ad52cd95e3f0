// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/modes.h"
#include "plan/recover/query_engine.h"
#include "plan/recover/vtables.h"

#include "test.h"
#include "../fixtures/recovered.h"

#define QUERIES 40
#define FIRST	10 /* the number in the name of the first query */

/* The address of "prefix_N". */
static uint64_t numbered(const struct recovery *r, const char *prefix, uint32_t i)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%u", prefix, i);
	return symbol(r->img, name)->addr;
}

/* Of the two digits behind "query_". */
static uint32_t number_of(const char *query)
{
	const char *digits = strstr(query, "query_") + strlen("query_");

	return (uint32_t)(digits[0] - '0') * 10 + (uint32_t)(digits[1] - '0');
}

/* ---- Vtables: tests/fixtures/vtables.s ------------------------------------------------------- */

static struct recovery recovered(const char *name)
{
	struct recovery r = recovery_open(name);

	assert_int_equal(vtables__recover(r.img, &r.bounds, &r.names, &r.problem), 0);
	return r;
}

/* The text behind "query_" is the number of the fixture's symbols. */
static void assert_named(const char *name)
{
	_recovery_ struct recovery r = recovered(name);

	assert_null(r.problem);
	assert_int_equal(r.names.n, 3 * QUERIES);
	for (uint32_t i = 0; i < r.names.n; i++) {
		struct name_info info;
		const char *prefix;

		name_classify(r.names.text + r.names.items[i].at, &info);
		assert_int_equal(info.part, NAME_PART_ENTRY);
		prefix = info.kind == NAME_WRAPPER_NON_INCR ? "non_incr"
			 : info.kind == NAME_WRAPPER_INCR   ? "incr"
							    : "provider";
		assert_true(info.kind == NAME_PROVIDER || *prefix != 'p');
		assert_int_equal(info.query_len, strlen("query_10"));
		assert_int_equal(numbered(&r, prefix, number_of(info.query)),
				 r.names.items[i].addr);
	}
}

/* Of the queries, how many have a loader; each must be their own. */
static uint32_t loaders_of(const char *name)
{
	_recovery_ struct recovery r = recovered(name);
	uint32_t n = 0;

	assert_null(r.problem);
	for (uint32_t i = 0; i < r.names.n; i++) {
		const char *text = r.names.text + r.names.items[i].at;
		const char *query = strstr(text, "query_impl8query_");

		if (!strstr(text, "17make_query_vtable"))
			continue;
		assert_non_null(query);
		assert_int_equal(numbered(&r, "load", number_of(query + strlen("query_impl8"))),
				 r.names.items[i].addr);
		n++;
	}
	assert_int_equal(r.names.n, 3 * QUERIES + n);
	return n;
}

TEST_CASE(queries_are_named)
{
	assert_named("vtables.so");
	/* Wrappers may be in a table of their own. */
	assert_named("vtables_engine.so");
	/* Functions that load are of the query that they are listed for. */
	assert_int_equal(loaders_of("vtables.so"), 0);
	assert_int_equal(loaders_of("vtables_loads.so"), QUERIES / 5);
	/* Those that may be of another query are left out. */
	assert_int_equal(loaders_of("vtables_loads_before.so"), 0);
	assert_int_equal(loaders_of("vtables_loads_both.so"), 0);
}

TEST_CASE(vtables_that_do_not_fit_are_refused)
{
	static const char *const rows[][2] = {
		{"vtables_fewer.so", "another number of providers"},
		{"vtables_shared.so", "not every query"},
		{"vtables_same.so", "not every query"},
		{"vtables_moved.so", "not every query"},
		{"parts.so", "no function"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		_recovery_ struct recovery r = recovered(rows[i][0]);

		row_part(rows[i][0], r.problem, rows[i][1]);
		row_equal(rows[i][0], r.names.n, 0);
	}
}

static int find_engine(const struct recovery *r, uint32_t n, struct engine_wrappers *table)
{
	struct address_counts counts;

	assert_int_equal(addresses__count(r->img, &r->bounds, &counts), 0);
	return engine__find(r->img, &r->bounds, &counts, table, n);
}

TEST_CASE(a_table_of_wrappers_is_found_by_its_length)
{
	_recovery_ struct recovery r = recovery_open("vtables_engine.so");
	struct engine_wrappers table[QUERIES + 1];

	assert_int_equal(find_engine(&r, QUERIES, table), 1);
	for (uint32_t i = 0; i < QUERIES; i += QUERIES - 1) {
		assert_int_equal(table[i].functions[0], numbered(&r, "non_incr", FIRST + i));
		assert_int_equal(table[i].functions[1], numbered(&r, "incr", FIRST + i));
	}
	assert_int_equal(find_engine(&r, QUERIES - 1, table), 0);
	assert_int_equal(find_engine(&r, QUERIES + 1, table), 0);
}

/* ---- Providers that are set: tests/fixtures/set_providers.s ---------------------------------- */

#define N 4

TEST_CASE(a_provider_is_set_at_the_place_of_its_name)
{
	static const struct {
		const char *library, *query;
		uint32_t n;
		const char *sets; /* NULL: nothing */
	} rows[] = {
		{"set_providers.so", "spans_more", N, "own"},
		/* It is the beginning of the other's name, and nothing else is put there. */
		{"set_providers.so", "spans", N, "default_0"},
		{"set_providers.so", "span", N, NULL},
		{"set_providers.so", "twice", N, NULL},
		/* All places are set, or a few may be unknown. */
		{"set_providers.so", "spans_more", N + 1, NULL},
		{"set_providers_few.so", "spans_more", N + 28, "own"},
		{"set_providers_many.so", "spans_more", N + 28, NULL},
		/* Two functions do not differ. */
		{"set_providers_several.so", "spans_more", N, NULL},
		{"set_providers_several.so", "spans", N, "default_0"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		_recovery_ struct recovery r = recovery_open(rows[i].library);
		uint64_t function = 0;

		row_equal(rows[i].query,
			  set_providers__find(r.img, &r.bounds, symbol(r.img, "defaults")->addr,
					      rows[i].n, rows[i].query, &function),
			  rows[i].sets != NULL);
		if (rows[i].sets)
			row_equal(rows[i].query, function, symbol(r.img, rows[i].sets)->addr);
	}
}

/* ---- Loaders and modes: tests/fixtures/modes.s ----------------------------------------------- */

TEST_CASE(functions_that_load_and_their_callers_are_found)
{
	static const struct {
		const char *function;
		bool loads;
	} rows[] = {{"loads", true},  {"no_body", true}, {"relay", true},
		    {"plain", false}, {"hashes", false}, {"far", false}};
	_recovery_ struct recovery r = recovery_open("modes.so");
	__cleanup(loaders__destroy) struct loaders found;

	assert_int_equal(loaders__find(r.img, &found), 0);
	for (size_t i = 0; i < N_OF(rows); i++)
		row_equal(rows[i].function,
			  loaders__has(&found, symbol(r.img, rows[i].function)->addr),
			  rows[i].loads);
}

TEST_CASE(only_incremental_bodies_load_or_hash)
{
	static const char *const names[] = {"plain", "loads", "hashes"};
	enum { PLAIN, LOADS, HASHES, BODIES };
	static const struct {
		const char *name;
		uint32_t non_incr, incr;
		bool right;
		uint64_t wrapper_non_incr, wrapper_incr;
		uint32_t outlined; /* by the plain body */
	} rows[] = {
		{"loads", PLAIN, LOADS, true, 0, 0, 0},
		{"hashes", PLAIN, HASHES, true, 0, 0, 0},
		{"incremental only", PLAN_NONE, HASHES, true, 0, 0, 0},
		{"one wrapper's body serves both", LOADS, LOADS, true, 0x1000, 0x1000, 0},
		{"two wrappers' body", LOADS, LOADS, false, 0x2000, 0x1000, 0},
		{"swapped: loads", LOADS, PLAIN, false, 0, 0, 0},
		{"swapped: hashes", HASHES, PLAIN, false, 0, 0, 0},
		{"both", HASHES, LOADS, false, 0, 0, 0},
		{"neither", PLAIN, PLAIN, false, 0, 0, 0},
		{"no incremental one", PLAIN, PLAN_NONE, false, 0, 0, 0},
		{"what the body calls", PLAN_NONE, PLAIN, true, 0, 0, LOADS + 1},
		{"what the other calls", PLAIN, HASHES, false, 0, 0, LOADS + 1},
	};
	_recovery_ struct recovery r = recovery_open("modes.so");
	_known_symbols_ struct known_symbols known;

	assert_int_equal(known_symbols__find(r.img, &known), 0);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct plan_body bodies[BODIES] = {{.outlined = rows[i].outlined}};
		struct plan_query query = {.body_non_incr = rows[i].non_incr,
					   .body_incr = rows[i].incr,
					   .wrapper_non_incr = rows[i].wrapper_non_incr,
					   .wrapper_incr = rows[i].wrapper_incr};
		struct plan plan = {
			.bodies = bodies, .n_bodies = BODIES, .queries = &query, .n_queries = 1};
		const char *problem = "";

		for (uint32_t k = 0; k < BODIES; k++)
			bodies[k].addr = symbol(r.img, names[k])->addr;
		assert_int_equal(modes__check(r.img, &known, &plan, &problem), 0);
		if (rows[i].right)
			row_text(rows[i].name, problem, NULL);
		else
			row_part(rows[i].name, problem, "load or hash");
	}
}

/* ---- The query engine: tests/fixtures/query_engine.s ----------------------------------------- */

#define FIRST_NUMBER 4
#define OFFSET	     0x20
#define OWN	     39 /* it executes by itself */

static struct recovery recovered_engine(const char *name, struct query_numbers *numbers)
{
	struct recovery r = recovery_open(name);

	r.problem = "";
	assert_true(query_engine__is_in(r.img));
	assert_int_equal(query_engine__recover(r.img, &r.bounds, &r.names, numbers, &r.problem), 0);
	return r;
}

TEST_CASE(each_method_s_function_is_its_query_s_wrapper)
{
	_query_numbers_ struct query_numbers numbers = {0};
	_recovery_ struct recovery r = recovered_engine("query_engine.so", &numbers);
	struct name_info info;

	assert_null(r.problem);
	assert_int_equal(r.names.n, 2 * QUERIES);
	for (uint32_t i = 0; i < r.names.n; i++) {
		name_classify(r.names.text + r.names.items[i].at, &info);
		assert_int_equal(info.kind, i % 2 ? NAME_WRAPPER_INCR : NAME_WRAPPER_NON_INCR);
		assert_int_equal(r.names.items[i].addr,
				 numbered(&r, "wrapper", number_of(info.query)));
	}
	/* And has its number. */
	assert_pairs(numbers.n, QUERIES, numbers.offset, OFFSET);
	for (uint32_t i = 0; i < QUERIES; i++)
		assert_int_equal(
			query_numbers__of(&numbers, numbered(&r, "wrapper", FIRST + i))->number,
			FIRST_NUMBER + i);
}

TEST_CASE(an_engine_that_does_not_fit_is_refused)
{
	static const char *const rows[][2] = {
		{"query_engine_skips.so", "do not follow one another"},
		{"query_engine_twice.so", "were not found"},
		{"query_engine_renamed.so", "names of the numbers"},
		{"query_engine_fewer.so", "another number of providers"},
	};
	_recovery_ struct recovery other = recovery_open("vtables.so");

	for (size_t i = 0; i < N_OF(rows); i++) {
		_query_numbers_ struct query_numbers numbers = {0};
		_recovery_ struct recovery r = recovered_engine(rows[i][0], &numbers);

		row_part(rows[i][0], r.problem, rows[i][1]);
		row_equal(rows[i][0], r.names.n + numbers.n, 0);
	}
	/* Other compilers have no such trait. */
	assert_false(query_engine__is_in(other.img));
}

#define DEBUG                                                                    \
	"_RNvXs8_NtNtCs7_12rustc_middle9dep_graph8dep_nodeNtB5_7DepKindNtNtCs6_" \
	"4core3fmt5Debug3fmt"

static struct variant_names names_of(const struct recovery *r, const char *function)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct code code = {0};
	struct variant_names names = {.n = 1};
	const struct elf_symbol *sym = symbol(r->img, function);

	assert_int_equal(code_decoder__new(r->img, &decoder), 0);
	assert_int_equal(variant_names__read(r->img, decoder,
					     (struct code_region){sym->addr, sym->size}, &code,
					     &names),
			 0);
	code__free(&code);
	return names;
}

TEST_CASE(each_number_has_its_name)
{
	_recovery_ struct recovery r = recovery_open("query_engine.so");
	struct variant_names names = names_of(&r, DEBUG);
	char name[16];

	assert_true(names.n >= FIRST_NUMBER + QUERIES);
	assert_memory_equal(names.items[0].text, "Null", 4);
	assert_int_equal(names.items[0].len, 4);
	/* A text that is read elsewhere is unknown. */
	assert_null(names.items[FIRST_NUMBER - 1].text);
	for (uint32_t i = 0; i < QUERIES; i++) {
		snprintf(name, sizeof(name), "query_%u", FIRST + i);
		assert_int_equal(names.items[FIRST_NUMBER + i].len, strlen(name));
		assert_memory_equal(names.items[FIRST_NUMBER + i].text, name, strlen(name));
	}
	/* A function without a switch has none. */
	assert_int_equal(names_of(&r, "finish").n, 0);
}

static struct engine_methods methods_of(const struct recovery *r, uint32_t n)
{
	_known_symbols_ struct known_symbols known = {0};
	struct engine_methods methods = {0};

	assert_int_equal(known_symbols__find(r->img, &known), 0);
	assert_int_equal(engine_methods__find(r->img, &r->bounds, &known, n, &methods), 0);
	return methods;
}

TEST_CASE(methods_call_the_functions_that_number_queries)
{
	_recovery_ struct recovery r = recovery_open("query_engine.so");
	__cleanup(engine_methods__destroy) struct engine_methods methods = methods_of(&r, QUERIES);
	int64_t at;

	assert_pairs(methods.n, QUERIES, methods.first, FIRST_NUMBER);
	for (uint32_t i = 0; i < QUERIES; i++) {
		assert_int_equal(methods.items[i].wrapper, numbered(&r, "wrapper", FIRST + i));
		assert_int_equal(methods.items[i].executes, i == OWN);
	}
	/* The number is at one distance in all vtables. */
	assert_int_equal(engine_methods__offset(&methods), OFFSET);
	assert_true(engine_methods__vtable(&methods, 0, OFFSET, &at));
	assert_int_equal(at, -0x58 + 0x18);
	assert_true(engine_methods__vtable(&methods, OWN, OFFSET, &at));
	assert_int_equal(at, -0x18 - 0x40 + 0x18);
}

TEST_CASE(methods_that_are_not_sure_are_none)
{
	static const struct {
		const char *library;
		uint32_t n;
	} rows[] = {
		{"query_engine_skips.so", QUERIES}, /* a number is missing */
		{"query_engine.so", QUERIES + 1},
		{"query_engine.so", QUERIES - 1}, /* there are two ways to take 39 of 40 */
		{"query_engine_twice.so", QUERIES},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		_recovery_ struct recovery r = recovery_open(rows[i].library);
		__cleanup(engine_methods__destroy) struct engine_methods methods =
			methods_of(&r, rows[i].n);

		row_equal(rows[i].library, methods.n, 0);
		if (!i)
			assert_int_equal(engine_methods__offset(&methods), UINT32_MAX);
	}
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
