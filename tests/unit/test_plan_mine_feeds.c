// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/feeds.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "../fixtures/rows.h"
#include "base/array.h"

/* The assembled tests/fixtures/feeds.s, as a plan has it. */
struct library {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct plan plan;
};

static struct plan_query queries[] = {
	{.name = (char *)"def_kind", .table = {.kind = WIRE_CACHE_DEF, .cache = 0x3000, .fed = 1}},
	{.name = (char *)"def_span", .table = {.kind = WIRE_CACHE_DEF, .cache = 0x2000, .fed = 1}},
	{.name = (char *)"features_query",
	 .table = {.kind = WIRE_CACHE_ONCE, .active = 0x4000, .cache = 0x4070, .fed = 1}},
	{.name = (char *)"mir_built", .table = {.kind = WIRE_CACHE_VEC, .cache = 0x1000, .fed = 1}},
};

static struct library library(const char *file)
{
	struct library l = {.plan = {.queries = queries,
				     .n_queries = N_OF(queries),
				     .tables = {.n = N_OF(queries), .vec_count = 0x150}}};

	assert_int_equal(image_of(fixture(file), &l.img), 0);
	assert_int_equal(code_decoder__new(l.img, &l.decoder), 0);
	assert_int_equal(feeds__mine(l.img, l.decoder, &l.plan), 0);
	return l;
}

static void library__clear(struct library *l)
{
	free(l->plan.sites);
	free(l->plan.feeds_problem);
	code_decoder__free(l->decoder);
	elf_image__free(l->img);
}

/* The site in a function. */
static const struct plan_site *site(const struct library *l, const char *function)
{
	const struct elf_symbol *sym = symbol(l->img, function);

	for (uint32_t i = 0; i < l->plan.n_sites; i++)
		if (l->plan.sites[i].addr - sym->addr < sym->size)
			return &l->plan.sites[i];
	fail_msg("%s has no site", function);
	return NULL;
}

TEST_CASE(each_addition_to_a_cache_is_a_site)
{
	struct library l = library("feeds.so");
	const struct plan_site *s = site(&l, "feed_vtable");

	assert_null(l.plan.feeds_problem);
	assert_int_equal(l.plan.n_sites, 5);
	assert_true(plan_site__feeds(s));
	assert_pairs(s->query, PLAN_NONE, s->reg, WIRE_REG_R14, s->vtable_offset, 0x28);
	s = site(&l, "feed_inlined");
	assert_true(plan_site__feeds(s));
	assert_int_equal(s->query, 3);
	assert_int_equal(s->reg, WIRE_REG_NONE);
	s = site(&l, "feed_span");
	assert_true(plan_site__feeds(s));
	assert_int_equal(s->query, 1);
	library__clear(&l);
}

/* Unless its register is written to. */
TEST_CASE(a_site_shows_which_result_it_is)
{
	struct library l = library("feeds.so");
	const struct plan_site *s = site(&l, "feed_inlined");

	assert_int_equal(s->result_reg, WIRE_REG_BX);
	assert_int_equal(s->result_shift, 0);
	s = site(&l, "feed_packed");
	assert_int_equal(s->result_reg, WIRE_REG_CX);
	assert_int_equal(s->result_shift, 32);
	assert_int_equal(site(&l, "feed_span")->result_reg, WIRE_REG_NONE);
	assert_int_equal(site(&l, "feed_mixed")->result_reg, WIRE_REG_NONE);
	library__clear(&l);
}

/* By its name, or by what it looks at first. */
TEST_CASE(queries_without_a_key_have_no_site)
{
	struct library l = library("feeds.so");
	struct plan_query *once = &queries[2];

	assert_null(l.plan.feeds_problem);
	library__clear(&l);
	once->table.cache += 8;
	l = library("feeds.so");
	once->table.cache -= 8;
	assert_string_equal(l.plan.feeds_problem,
			    "a function that feeds a query does not show where");
	library__clear(&l);
}

/* As functions that share code show it twice. */
TEST_CASE(a_site_is_there_once)
{
	struct library l = library("feeds.so");

	assert_int_equal(feeds__mine(l.img, l.decoder, &l.plan), 0);
	assert_null(l.plan.feeds_problem);
	assert_int_equal(l.plan.n_sites, 5);
	/* And is about one query. */
	for (uint32_t i = 0; i < l.plan.n_sites; i++)
		l.plan.sites[i].vtable_offset += 8;
	assert_int_equal(feeds__mine(l.img, l.decoder, &l.plan), 0);
	assert_string_equal(l.plan.feeds_problem, "code feeds one query or another");
	assert_int_equal(l.plan.n_sites, 0);
	library__clear(&l);
}

TEST_CASE(what_is_fed_unseen_is_not_known)
{
	struct library l = library("feeds_hidden.so");

	assert_int_equal(l.plan.n_sites, 0);
	assert_string_equal(l.plan.feeds_problem,
			    "a function that feeds queries does not show where it feeds one");
	library__clear(&l);
}

TEST_CASE(a_library_without_the_complaint_shows_nothing)
{
	struct library l = library("tables.so");

	assert_string_equal(l.plan.feeds_problem,
			    "no function has the complaint of those that feed queries");
	library__clear(&l);
}

TEST_CASE(only_definitions_of_the_library_are_seen)
{
	struct plan plan = {.n_queries = 1};
	struct plan_query q = {.name = (char *)"type_of",
			       .key = WIRE_KEY_DEF,
			       .table = {.kind = WIRE_CACHE_DEF, .fed = 1}};

	assert_int_equal(plan_query__fed(&plan, &q), PLAN_FED_SEEN);
	plan.feeds_problem = (char *)"some";
	assert_int_equal(plan_query__fed(&plan, &q), PLAN_FED_SOME);
	plan.feeds_problem = NULL;
	q.key = WIRE_KEY_CRATE;
	assert_int_equal(plan_query__fed(&plan, &q), PLAN_FED_SOME);
	q.key = WIRE_KEY_DEF;
	q.name = (char *)"def_span";
	assert_int_equal(plan_query__fed(&plan, &q), PLAN_FED_SEEN);
	q.name = (char *)"def_kind";
	assert_int_equal(plan_query__fed(&plan, &q), PLAN_FED_LOCAL);
	q.table.fed = 0;
	assert_int_equal(plan_query__fed(&plan, &q), PLAN_FED_NOT);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
