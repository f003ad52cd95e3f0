// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include "test.h"
#define LIBRARY "between.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "base/array.h"

enum body { PLAIN, ONE, DEEPER, HIDDEN, ALONE, SHARED, THROUGH, HASHING, FAR, BODIES };
enum { PROVIDER = 0x20, CLOSURE = 0x100 + 8 + 8 };

/* The assembled tests/fixtures/between.s. */
static struct plan_body bodies[BODIES];
static struct mined_body mined[BODIES];
static struct plan plan = {.bodies = bodies, .n_bodies = BODIES};

static void calls(enum body body, const char *name)
{
	mined[body].calls[mined[body].n_calls++] = symbol(img, name)->addr;
}

static void calls_through(enum body body, int32_t offset)
{
	mined[body].masks[0].vtable.offset = offset;
	mined[body].offsets[mined[body].n_offsets++] = offset;
}

static int setup(void **state)
{
	static const char *const names[] = {"plain",  "one",	 "deeper",  "hidden", "alone",
					    "shared", "through", "hashing", "far"};

	if (image_setup(state))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++) {
		bodies[i].addr = symbol(img, names[i])->addr;
		bodies[i].group = i == ALONE ? ALONE : PLAIN;
		mined[i].n_masks = 1;
		mined[i].masks[0].vtable = vtable_none;
	}
	calls_through(PLAIN, PROVIDER);
	calls_through(SHARED, PROVIDER);
	/* The function that such a body calls through a vtable is another one of the query's. */
	calls_through(HASHING, PROVIDER + 8);
	bodies[HASHING].incremental = true;
	calls(HASHING, "closure");
	calls(THROUGH, "closure");
	bodies[THROUGH].outlined = ONE + 1;
	calls(ONE, "helper");
	calls(ONE, "closure");
	calls(ONE, "hashes");
	calls(DEEPER, "closure");
	calls(DEEPER, "larger");
	calls(FAR, "closure");
	calls(FAR, "largest");
	calls(HIDDEN, "aligned");
	calls(HIDDEN, "hashes");
	calls(ALONE, "closure");
	bodies[HIDDEN].outlined = SHARED + 1;
	return between_find(img, decoder, &plan, mined);
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < BODIES; i++)
		free(bodies[i].problem);
	return image_teardown(state);
}

TEST_CASE(the_frame_of_the_provider_s_caller_is_between)
{
	static const struct {
		const char *name;
		enum body body;
		int32_t between; /* negative: not asked for */
		bool known;	 /* else what calls the provider is a problem */
	} rows[] = {
		{"plain: it calls providers itself", PLAIN, 0, true},
		{"shared: as well", SHARED, 0, true},
		/* Its frame and its return address, but not the frames of others that are called.
		 */
		{"one", ONE, CLOSURE, true},
		{"hashing: a call of another function through the vtable", HASHING, CLOSURE, true},
		{"deeper: of several the deepest counts", DEEPER, 0x208 + 8, true},
		{"far: frames that differ by more", FAR, -1, false},
		/* The frame of its own way is not known. */
		{"hidden: a body that executes for another", HIDDEN, 0x48 + 8, false},
		{"through: what that body calls, with a frame of 0", THROUGH, 8 + CLOSURE, true},
		{"alone: without the provider's place", ALONE, 0, false},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const enum body body = rows[i].body;

		if (rows[i].between >= 0)
			row_equal(rows[i].name, bodies[body].between, rows[i].between);
		row_text(rows[i].name, mined[body].problem,
			 rows[i].known ? NULL : "what calls its provider is not known");
		row_text(rows[i].name, bodies[body].problem, mined[body].problem);
	}
}

TEST_CASE(calls_of_what_runs_the_provider_are_marked)
{
	assert_false(mined[ONE].provides[0] || mined[ONE].provides[2]);
	assert_true(mined[ONE].provides[1]);
	assert_true(mined[DEEPER].provides[0] && mined[DEEPER].provides[1]);
	/* Where it is in the vtable is not known. */
	assert_false(mined[ALONE].provides[0]);
}

/* ---- What identifies a query by its number: tests/fixtures/query_engine.s -------------------- */

static int open_other(const char *name)
{
	return fixture_dir_setup(NULL) ?: image_of(fixture(name), &img)
						  ?: code_decoder__new(img, &decoder);
}

static int engine_setup(void **state)
{
	return open_other("query_engine.so");
}

TEST_GROUP(engine_setup, image_teardown)

#define OFFSET 0x20
#define FRAME  0x58 /* of all bodies */

static const char *const engine_names[] = {"by_stack", "by_register", "again", "through_another"};
enum engine_body { BY_STACK, BY_REGISTER, AGAIN, ANOTHER, ENGINE_BODIES };

static struct plan_body engine_bodies[ENGINE_BODIES];
static struct mined_body engine_mined[ENGINE_BODIES];
static struct plan_query engine_queries[4];
static struct plan engine_plan = {
	.bodies = engine_bodies,
	.n_bodies = ENGINE_BODIES,
	.queries = engine_queries,
	.n_queries = N_OF(engine_queries),
};

static void mine(enum engine_body body)
{
	const uint64_t cold_call = symbol(img, "fn_provider")->addr;
	const struct mine_cold cold = {&cold_call, 1, false};
	const struct elf_symbol *sym = symbol(img, engine_names[body]);
	struct code_region region = {sym->addr, sym->size};
	struct code code = {0};

	assert_int_equal(code_decoder__decode(decoder, &region, 1, &code), 0);
	assert_int_equal(mine_body(img, &code, sym->addr, &cold, NULL, &engine_mined[body]), 0);
	assert_null(engine_mined[body].problem);
	code__free(&code);
	engine_bodies[body] = (struct plan_body){.addr = sym->addr};
}

static void add_query(uint32_t i, const char *wrapper, enum engine_body body)
{
	engine_queries[i] = (struct plan_query){
		.wrapper_non_incr = symbol(img, wrapper)->addr,
		.wrapper_incr = symbol(img, wrapper)->addr,
		.body_non_incr = body,
		.body_incr = body,
		.number = 4 + i,
	};
	engine_bodies[body].n_queries++;
}

/* The assembled tests/fixtures/query_engine.s. */
static void identify_at(uint32_t offset)
{
	_query_numbers_ struct query_numbers numbers = {.offset = offset};

	for (uint32_t i = 0; i < N_OF(engine_queries); i++) {
		struct query_number number = {engine_queries[i].wrapper_incr, 4 + i, -0x58 + 0x18};

		assert_int_equal(query_numbers__add(&numbers, number), 0);
	}
	query_numbers__sort(&numbers);
	assert_int_equal(identify_by_number(img, decoder, &engine_plan, engine_mined, &numbers), 0);
}

static void identify(void)
{
	identify_at(OFFSET);
}

static int prepare(void **state)
{
	for (enum engine_body body = 0; body < ENGINE_BODIES; body++)
		mine(body);
	engine_bodies[BY_REGISTER].outlined = engine_bodies[BY_STACK].outlined = AGAIN + 1;
	add_query(0, "wrapper_10", BY_REGISTER);
	add_query(1, "wrapper_11", BY_REGISTER);
	add_query(2, "wrapper_30", BY_STACK);
	add_query(3, "wrapper_31", BY_STACK);
	return 0;
}

static void assert_place(const struct mined_site *mask, uint8_t reg, int32_t slot)
{
	assert_pairs(mask->vtable.offset, OFFSET, mask->vtable.reg, reg, mask->vtable.slot, slot);
}

static void assert_unknown(const struct mined_body *m)
{
	for (size_t k = 0; k < m->n_masks; k++)
		assert_true(m->masks[k].vtable.offset < 0);
}

TEST_CASE_WITH(an_argument_is_followed, prepare, NULL)
{
	const struct mined_body *in_register = &engine_mined[BY_REGISTER];
	const struct mined_body *on_stack = &engine_mined[BY_STACK], *again = &engine_mined[AGAIN];

	identify();
	assert_pairs(in_register->n_masks, 2, on_stack->n_masks, 1, again->n_masks, 1);
	/* The provider is called through it behind the first site only. */
	assert_place(&in_register->masks[0], WIRE_REG_BP, VTABLE_NO_SLOT);
	assert_place(&in_register->masks[1], WIRE_REG_BP, VTABLE_NO_SLOT);
	assert_place(&on_stack->masks[0], WIRE_REG_NONE, FRAME + 0x10);
	/* It is passed on to what executes for the body. */
	assert_int_equal(again->masks[0].vtable.offset, OFFSET);
	assert_true(again->masks[0].vtable.reg == WIRE_REG_CX ||
		    again->masks[0].vtable.slot == 0x30);
}

TEST_CASE_WITH(a_number_within_a_word_is_left_out, prepare, NULL)
{
	identify_at(OFFSET + 2);
	assert_unknown(&engine_mined[BY_REGISTER]);
	assert_unknown(&engine_mined[BY_STACK]);
	assert_unknown(&engine_mined[AGAIN]);
}

TEST_CASE_WITH(one_of_several_arguments_is_not_chosen, prepare, NULL)
{
	/* The only call that is left has it in two registers. */
	engine_bodies[BY_STACK].outlined = 0;
	identify();
	assert_unknown(&engine_mined[AGAIN]);
}

TEST_CASE_WITH(callers_that_do_not_agree_show_nothing, prepare, NULL)
{
	engine_queries[1].wrapper_incr = symbol(img, "wrapper_odd")->addr;
	identify();
	assert_unknown(&engine_mined[BY_REGISTER]);
}

TEST_CASE_WITH(a_body_that_calls_through_another_argument_is_left_out, prepare, NULL)
{
	engine_queries[1].wrapper_incr = symbol(img, "wrapper_another")->addr;
	engine_queries[1].body_incr = engine_queries[1].body_non_incr = ANOTHER;
	assert_true(engine_mined[ANOTHER].masks[0].vtable.offset >= 0);
	identify();
	assert_unknown(&engine_mined[ANOTHER]);
	assert_place(&engine_mined[BY_REGISTER].masks[0], WIRE_REG_BP, VTABLE_NO_SLOT);
}

TEST_CASE_WITH(a_query_without_a_number_takes_its_body_s, prepare, NULL)
{
	engine_queries[1].number = 0;
	identify();
	assert_unknown(&engine_mined[BY_REGISTER]);
	assert_unknown(&engine_mined[AGAIN]);
	assert_place(&engine_mined[BY_STACK].masks[0], WIRE_REG_NONE, FRAME + 0x10);
}

/* ---- Bodies that execute for others: tests/fixtures/outlined.s ------------------------------- */

static const char *const outlined_names[] = {"shared", "plain",	 "one",	    "two",  "public",
					     "first",  "second", "several", "also", "forces"};
enum outlined_body {
	EXECUTING,
	SERVED,
	FIRST_OF,
	TWO,
	PUBLIC,
	FIRST,
	SECOND,
	SEVERAL,
	ALSO,
	FORCES,
	OUTLINED
};

/* The assembled tests/fixtures/outlined.s; the first query has a body for each mode. */
static struct plan_body outlined_bodies[OUTLINED];
static struct mined_body outlined_mined[OUTLINED];
static struct plan_query outlined_queries[] = {
	{.body_non_incr = SERVED, .body_incr = FIRST},
	{.body_non_incr = SECOND, .body_incr = SECOND},
	{.body_non_incr = SEVERAL, .body_incr = SEVERAL},
	{.body_non_incr = ALSO, .body_incr = ALSO},
	{.body_non_incr = FORCES, .body_incr = FORCES},
};
static struct plan outlined_plan = {
	.bodies = outlined_bodies,
	.n_bodies = OUTLINED,
	.queries = outlined_queries,
	.n_queries = N_OF(outlined_queries),
};

static int outlined_setup(void **state)
{
	if (open_other("outlined.so"))
		return -1;
	for (uint32_t i = 0; i < OUTLINED; i++) {
		outlined_bodies[i].addr = symbol(img, outlined_names[i])->addr;
		outlined_mined[i].masks_exact = true;
	}
	for (uint32_t i = 1; i < OUTLINED; i++)
		assert_true(outlined_bodies[i].addr > outlined_bodies[i - 1].addr);
	outlined_bodies[SERVED].n_queries = outlined_bodies[FIRST].n_queries = 1;
	outlined_bodies[SECOND].n_queries = 2;
	outlined_bodies[SEVERAL].n_queries = outlined_bodies[ALSO].n_queries =
		outlined_bodies[FORCES].n_queries = 1;
	return outlined_find(img, decoder, &outlined_plan, outlined_mined);
}

static int outlined_teardown(void **state)
{
	for (uint32_t i = 0; i < OUTLINED; i++)
		free(outlined_bodies[i].problem);
	return image_teardown(state);
}

TEST_GROUP(outlined_setup, outlined_teardown)

TEST_CASE(a_body_that_no_wrapper_calls_is_tied_to_its_callers)
{
	assert_int_equal(plan__outlined(&outlined_plan, FIRST), EXECUTING);
	assert_int_equal(plan__outlined(&outlined_plan, SECOND), EXECUTING);
	assert_int_equal(outlined_bodies[EXECUTING].n_queries, 2);
	/* One with queries is not. */
	assert_int_equal(plan__outlined(&outlined_plan, SERVED), PLAN_NONE);
	assert_int_equal(plan__outlined(&outlined_plan, EXECUTING), PLAN_NONE);
	assert_int_equal(plan__outlined(&outlined_plan, PLAN_NONE), PLAN_NONE);
	assert_int_equal(outlined_bodies[SERVED].n_queries, 1);
	/* Its queries are those of its callers. */
	assert_true(plan__serves(&outlined_plan, &outlined_queries[0], EXECUTING));
	assert_true(plan__serves(&outlined_plan, &outlined_queries[1], EXECUTING));
	assert_true(plan__serves(&outlined_plan, &outlined_queries[0], SERVED));
	assert_false(plan__serves(&outlined_plan, &outlined_queries[1], SERVED));
	assert_false(plan__serves(&outlined_plan, &outlined_queries[1], PLAN_NONE));
}

static void assert_outlined_problem(enum outlined_body body, const char *problem)
{
	assert_int_equal(plan__outlined(&outlined_plan, body), PLAN_NONE);
	assert_false(outlined_mined[body].masks_exact);
	assert_non_null(strstr(outlined_mined[body].problem, problem));
	assert_string_equal(outlined_bodies[body].problem, outlined_mined[body].problem);
}

TEST_CASE(of_several_none_is_taken)
{
	assert_outlined_problem(SEVERAL, "several functions");
	assert_outlined_problem(ALSO, "for others");
	/* A body that others call is another query's. */
	assert_outlined_problem(FORCES, "for others");
	assert_pairs(outlined_bodies[FIRST_OF].n_queries, 0, outlined_bodies[TWO].n_queries, 0,
		     outlined_bodies[PUBLIC].n_queries, 0);
	for (enum outlined_body body = EXECUTING; body < SEVERAL; body++) {
		assert_true(outlined_mined[body].masks_exact);
		assert_null(outlined_mined[body].problem);
		assert_null(outlined_bodies[body].problem);
	}
}

TEST_MAIN(setup, teardown)
