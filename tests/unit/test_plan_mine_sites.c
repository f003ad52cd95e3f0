// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/sites.h"

#include "test.h"
#define LIBRARY "query_engine.so"
#include "../fixtures/image.h"
#include "plan/mine/between.h"

#define OFFSET 0x20
#define FIRST  4

/* Two queries of the assembled tests/fixtures/query_engine.s, each with a body of its own. */
static const char *const names[] = {"by_register", "by_stack"};
static const char *const wrappers[] = {"wrapper_10", "wrapper_30"};

static struct plan_body bodies[2];
static struct plan_query queries[2];
static struct mined_body mined[2];
static struct plan plan = {.bodies = bodies, .n_bodies = 2, .queries = queries, .n_queries = 2};

static void add(uint32_t i)
{
	const uint64_t cold_call = symbol(img, "fn_provider")->addr;
	const uint64_t wrapper = symbol(img, wrappers[i])->addr;
	const struct elf_symbol *sym = symbol(img, names[i]);
	const struct code_region region = {sym->addr, sym->size};
	const struct mine_cold cold = {&cold_call, 1, false};
	struct code code = {0};

	assert_int_equal(code_decoder__decode(decoder, &region, 1, &code), 0);
	assert_int_equal(mine_body(img, &code, sym->addr, &cold, NULL, &mined[i]), 0);
	code__free(&code);
	bodies[i] = (struct plan_body){.addr = sym->addr, .group = i, .n_queries = 1};
	queries[i] = (struct plan_query){
		.wrapper_non_incr = wrapper,
		.wrapper_incr = wrapper,
		.body_non_incr = i,
		.body_incr = i,
		.number = FIRST + i,
	};
}

static int prepare(void **state)
{
	_query_numbers_ struct query_numbers numbers = {.offset = OFFSET};

	for (uint32_t i = 0; i < 2; i++) {
		struct query_number number;

		add(i);
		number = (struct query_number){queries[i].wrapper_incr, FIRST + i, -0x58 + 0x18};
		assert_int_equal(query_numbers__add(&numbers, number), 0);
	}
	query_numbers__sort(&numbers);
	return identify_by_number(img, decoder, &plan, mined, &numbers);
}

static int discard(void **state)
{
	free(plan.sites);
	plan.sites = NULL;
	plan.n_sites = plan.sites_capacity = 0;
	return 0;
}

TEST_CASE_WITH(a_body_of_one_query_names_it, prepare, discard)
{
	assert_int_equal(sites_choose(img, decoder, &plan, mined, 0), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(queries[i].start_role, WIRE_ROLE_START_BODY);
		assert_int_equal(queries[i].n_start, mined[i].n_masks);
	}
}

/* The other query's executions may be in this body, too: only the number shows which it is. */
TEST_CASE_WITH(a_body_that_may_be_another_query_s_reads_the_number, prepare, discard)
{
	bodies[1].n_queries = 0;
	queries[1].body_non_incr = queries[1].body_incr = PLAN_NONE;
	assert_int_equal(sites_choose(img, decoder, &plan, mined, 0), 0);
	assert_int_equal(queries[0].start_role, WIRE_ROLE_IDENTIFY);
	assert_int_equal(queries[1].start_role, 0);
}

TEST_MAIN(image_setup, image_teardown)
