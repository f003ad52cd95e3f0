// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/tables.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "../fixtures/rows.h"
#include "base/array.h"

#define FIRST  10
#define N      40
#define BASE   0x370
#define BODIES 4

/* The assembled tests/fixtures/tables.s, as a plan has it. */
struct library {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct plan plan;
	struct plan_query queries[N];
	struct plan_body bodies[BODIES];
	struct plan_guard guards[BODIES];
	struct plan_site sites[BODIES];
	struct code_region regions[N + BODIES];
	struct layout_function functions[N + BODIES];
	char names[N][16];
};

static void add_function(struct library *l, uint32_t i, enum name_kind kind, const char *name)
{
	const struct elf_symbol *sym = symbol(l->img, name);

	l->regions[i] = (struct code_region){sym->addr, sym->size};
	l->functions[i] = (struct layout_function){
		.kind = kind, .entry = sym->addr, .regions = &l->regions[i], .n_regions = 1};
}

static struct library *library(const char *file)
{
	static const uint8_t keys[] = {WIRE_KEY_LOCAL, WIRE_KEY_DEF, WIRE_KEY_UNKNOWN,
				       WIRE_KEY_UNIT};
	struct library *l = calloc(1, sizeof(*l));
	char name[16];

	assert_non_null(l);
	assert_int_equal(image_of(fixture(file), &l->img), 0);
	assert_int_equal(code_decoder__new(l->img, &l->decoder), 0);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t kind = (FIRST + i) % BODIES;

		snprintf(l->names[i], sizeof(l->names[i]), "query_%u", FIRST + i);
		l->queries[i] = (struct plan_query){.name = l->names[i],
						    .key = keys[kind],
						    .key_type = (char *)"of some type",
						    .body_non_incr = kind,
						    .body_incr = PLAN_NONE};
		snprintf(name, sizeof(name), "wrapper_%u", FIRST + i);
		add_function(l, i, NAME_WRAPPER_NON_INCR, name);
		l->functions[i].query = l->names[i];
		l->functions[i].query_len = strlen(l->names[i]);
	}
	for (uint32_t b = 0; b < BODIES; b++) {
		snprintf(name, sizeof(name), "body_%u", b);
		add_function(l, N + b, NAME_BODY_NON_INCR, name);
		l->bodies[b].addr = symbol(l->img, name)->addr;
	}
	l->plan.queries = l->queries;
	l->plan.n_queries = N;
	l->plan.bodies = l->bodies;
	l->plan.n_bodies = BODIES;
	return l;
}

static void mine(struct library *l)
{
	assert_int_equal(
		tables__mine(l->img, l->decoder, l->functions, N_OF(l->functions), &l->plan), 0);
}

static void library__free(struct library *l)
{
	for (uint32_t i = 0; i < N; i++)
		free(l->queries[i].table_problem);
	free(l->plan.tables_problem);
	code_decoder__free(l->decoder);
	elf_image__free(l->img);
	free(l);
}

TEST_CASE(all_caches_are_found)
{
	static const uint8_t kinds[] = {WIRE_CACHE_VEC, WIRE_CACHE_DEF, WIRE_CACHE_HASH,
					WIRE_CACHE_ONCE};
	/* As the fixture has them, from the state on. */
	static const uint32_t caches[] = {0x50, 0x28, 0x28, 0x50},
			      names[] = {0x28, 0x1a8, 0x50, 0x28},
			      sizes[] = {0x1b0, 0x1d8, 0x80, 0x68};
	struct library *l = library("tables.so");
	uint32_t at = BASE;

	mine(l);
	assert_null(l->plan.tables_problem);
	assert_int_equal(plan__tables(&l->plan), N);
	for (uint32_t i = 0; i < N; i++) {
		const struct wire_query_table *t = &l->queries[i].table;
		uint32_t kind = (FIRST + i) % BODIES;

		assert_null(l->queries[i].table_problem);
		assert_pairs(t->kind, kinds[kind], t->active, at, t->cache, at + caches[kind],
			     t->others, kinds[kind] == WIRE_CACHE_DEF ? at + 0x180 : 0, t->name,
			     at + names[kind]);
		assert_int_equal(t->length, strlen(l->names[i]));
		assert_int_equal(t->fed, (FIRST + i) % 10 == 1);
		at += sizes[kind];
	}
	library__free(l);
}

TEST_CASE(bodies_show_what_a_table_means)
{
	struct library *l = library("tables.so");
	const struct wire_tables *t = &l->plan.tables;

	mine(l);
	assert_int_equal(t->n, N);
	assert_int_equal(t->vec_count, 0x150);
	assert_pairs(t->items, 0x18, t->mode, 0x21, t->sharded, 2, t->shards, 0, t->n_shards, 32,
		     t->shard_size, 64, t->once, 0, t->buckets, 0xa8, t->first, 0x1000, t->mark, 2);
	library__free(l);
}

TEST_CASE(the_logarithm_of_a_key_may_be_compared)
{
	struct library *l = library("tables_logarithm.so");

	mine(l);
	assert_pairs(l->plan.tables.buckets, 0xa8, l->plan.tables.first, 0x1000,
		     l->plan.tables.mark, 2);
	library__free(l);
}

/* Results are counted all the same. */
TEST_CASE(keys_whose_buckets_are_not_understood_are_unknown)
{
	struct library *l = library("tables_other_buckets.so");

	mine(l);
	assert_int_equal(plan__tables(&l->plan), N);
	assert_int_equal(l->plan.tables.vec_count, 0x150);
	assert_int_equal(l->plan.tables.first, 0);
	library__free(l);
}

static void assert_refused(const char *file, const char *problem)
{
	struct library *l = library(file);

	mine(l);
	assert_string_equal(l->plan.tables_problem, problem);
	assert_int_equal(l->plan.tables.n, 0);
	assert_int_equal(plan__tables(&l->plan), 0);
	library__free(l);
}

TEST_CASE(what_code_does_not_show_is_not_guessed)
{
	assert_refused("tables_bases.so",
		       "the wrappers of queries do not agree on where the vtables are");
	assert_refused("tables_uncounted.so",
		       "the bodies of queries do not show how many entries a table has");
}

TEST_CASE(a_query_without_its_tables_is_left_out_alone)
{
	struct library *l = library("tables_no_state.so");

	mine(l);
	assert_null(l->plan.tables_problem);
	assert_int_equal(plan__tables(&l->plan), N - 1);
	assert_string_equal(l->queries[20 - FIRST].table_problem,
			    "its table of active jobs was not found");
	library__free(l);
}

/* What another flag says is no proof that results are not fed. */
TEST_CASE(a_flag_must_lead_to_the_complaint)
{
	struct library *l = library("tables_other_flag.so");

	mine(l);
	assert_int_equal(plan__tables(&l->plan), N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(l->queries[i].table.fed, 1);
	library__free(l);
}

TEST_CASE(a_key_must_be_one_that_the_cache_has)
{
	struct library *l = library("tables.so");

	l->queries[3].key = WIRE_KEY_UNIT;
	l->queries[5].key = WIRE_KEY_DEF;
	mine(l);
	assert_int_equal(plan__tables(&l->plan), N - 2);
	assert_string_equal(l->queries[3].table_problem,
			    "its key is not one that such a cache has");
	assert_int_equal(l->queries[5].table.kind, 0);
	library__free(l);
}

static void add_load(struct library *l, const char *at, uint32_t body)
{
	uint32_t i = l->plan.n_guards++;

	l->guards[i] = (struct plan_guard){.kind = WIRE_KIND_LOAD};
	l->sites[i] = (struct plan_site){.role = WIRE_ROLE_GUARD,
					 .addr = symbol(l->img, at)->addr,
					 .body = body,
					 .guard = i};
	l->plan.guards = l->guards;
	l->plan.sites = l->sites;
	l->plan.n_sites = l->plan.n_guards;
}

/* Of the query behind the last one's it is not known where its vtable ends. */
TEST_CASE(vtables_without_a_function_that_loads_have_no_loads)
{
	static const char *const files[] = {"tables.so", "tables_other_loader.so"};

	for (int other = 0; other < 2; other++) {
		struct library *l = library(files[other]);

		add_load(l, "guard_load", PLAN_NONE);
		mine(l);
		for (uint32_t n = FIRST; n < FIRST + N - 1; n++)
			assert_int_equal(l->queries[n - FIRST].never_loaded,
					 n % 3 && !(other && n % BODIES == 21 % BODIES));
		assert_false(l->queries[N - 1].never_loaded);
		assert_false(l->plan.names_old_results);
		library__free(l);
	}
}

static struct library *library_that_asks(const char *file)
{
	struct library *l = library(file);
	char name[16];

	for (uint32_t b = 0; b < BODIES; b++) {
		snprintf(name, sizeof(name), "guard_%u", b);
		add_load(l, name, b);
		l->functions[N + b].kind = NAME_BODY_INCR;
		l->bodies[b].incremental = true;
	}
	for (uint32_t i = 0; i < N; i++)
		l->queries[i].body_incr = l->queries[i].body_non_incr;
	return l;
}

TEST_CASE(bodies_that_are_told_that_nothing_is_kept_have_no_loads)
{
	struct library *l = library_that_asks("tables_asked.so");

	mine(l);
	for (uint32_t n = FIRST; n < FIRST + N; n++)
		assert_int_equal(l->queries[n - FIRST].never_loaded, n % 3 != 0);
	assert_true(l->plan.names_old_results);
	library__free(l);
	l = library_that_asks("tables_unasked.so");
	mine(l);
	for (uint32_t i = 0; i < N; i++)
		assert_false(l->queries[i].never_loaded);
	library__free(l);
	/* Without a guard nothing shows what a load is. */
	l = library("tables_asked.so");
	mine(l);
	for (uint32_t i = 0; i < N; i++)
		assert_false(l->queries[i].never_loaded);
	library__free(l);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
