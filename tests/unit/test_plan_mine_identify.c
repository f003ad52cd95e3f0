// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include "test.h"
#define LIBRARY "query_engine.so"
#include "../fixtures/image.h"
#include "base/array.h"

#define OFFSET 0x20
#define FRAME  0x58 /* of all bodies */

static const char *const names[] = {"by_stack", "by_register", "again", "through_another"};
enum body { BY_STACK, BY_REGISTER, AGAIN, ANOTHER, BODIES };

static struct plan_body bodies[BODIES];
static struct mined_body mined[BODIES];
static struct plan_query queries[4];
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = queries,
	.n_queries = N_OF(queries),
};

static void mine(enum body body)
{
	const uint64_t cold_call = symbol(img, "fn_provider")->addr;
	const struct mine_cold cold = {&cold_call, 1, false};
	const struct elf_symbol *sym = symbol(img, names[body]);
	struct code_region region = {sym->addr, sym->size};
	struct code code = {0};

	assert_int_equal(code_decoder__decode(decoder, &region, 1, &code), 0);
	assert_int_equal(mine_body(img, &code, sym->addr, &cold, NULL, &mined[body]), 0);
	assert_null(mined[body].problem);
	code__free(&code);
	bodies[body] = (struct plan_body){.addr = sym->addr};
}

static void add_query(uint32_t i, const char *wrapper, enum body body)
{
	queries[i] = (struct plan_query){
		.wrapper_non_incr = symbol(img, wrapper)->addr,
		.wrapper_incr = symbol(img, wrapper)->addr,
		.body_non_incr = body,
		.body_incr = body,
		.number = 4 + i,
	};
	bodies[body].n_queries++;
}

/* The assembled tests/fixtures/query_engine.s. */
static void identify_at(uint32_t offset)
{
	_query_numbers_ struct query_numbers numbers = {.offset = offset};

	for (uint32_t i = 0; i < N_OF(queries); i++) {
		struct query_number number = {queries[i].wrapper_incr, 4 + i, -0x58 + 0x18};

		assert_int_equal(query_numbers__add(&numbers, number), 0);
	}
	query_numbers__sort(&numbers);
	assert_int_equal(identify_by_number(img, decoder, &plan, mined, &numbers), 0);
}

static void identify(void)
{
	identify_at(OFFSET);
}

static int prepare(void **state)
{
	for (enum body body = 0; body < BODIES; body++)
		mine(body);
	bodies[BY_REGISTER].outlined = bodies[BY_STACK].outlined = AGAIN + 1;
	add_query(0, "wrapper_10", BY_REGISTER);
	add_query(1, "wrapper_11", BY_REGISTER);
	add_query(2, "wrapper_30", BY_STACK);
	add_query(3, "wrapper_31", BY_STACK);
	return 0;
}

static void assert_place(const struct mined_site *mask, uint8_t reg, int32_t slot)
{
	assert_int_equal(mask->vtable.offset, OFFSET);
	assert_int_equal(mask->vtable.reg, reg);
	assert_int_equal(mask->vtable.slot, slot);
}

static void assert_unknown(const struct mined_body *m)
{
	for (size_t k = 0; k < m->n_masks; k++)
		assert_true(m->masks[k].vtable.offset < 0);
}

TEST_CASE_WITH(an_argument_in_a_register_is_followed, prepare, NULL)
{
	identify();
	assert_int_equal(mined[BY_REGISTER].n_masks, 2);
	/* The provider is called through it behind the first site only. */
	assert_place(&mined[BY_REGISTER].masks[0], WIRE_REG_BP, VTABLE_NO_SLOT);
	assert_place(&mined[BY_REGISTER].masks[1], WIRE_REG_BP, VTABLE_NO_SLOT);
}

TEST_CASE_WITH(an_argument_on_the_stack_stays_there, prepare, NULL)
{
	identify();
	assert_int_equal(mined[BY_STACK].n_masks, 1);
	assert_place(&mined[BY_STACK].masks[0], WIRE_REG_NONE, FRAME + 0x10);
}

TEST_CASE_WITH(it_is_passed_on_to_what_executes_for_the_body, prepare, NULL)
{
	identify();
	assert_int_equal(mined[AGAIN].n_masks, 1);
	assert_int_equal(mined[AGAIN].masks[0].vtable.offset, OFFSET);
	assert_true(mined[AGAIN].masks[0].vtable.reg == WIRE_REG_CX ||
		    mined[AGAIN].masks[0].vtable.slot == 0x30);
}

TEST_CASE_WITH(a_number_within_a_word_is_left_out, prepare, NULL)
{
	identify_at(OFFSET + 2);
	assert_unknown(&mined[BY_REGISTER]);
	assert_unknown(&mined[BY_STACK]);
	assert_unknown(&mined[AGAIN]);
}

TEST_CASE_WITH(one_of_several_arguments_is_not_chosen, prepare, NULL)
{
	/* The only call that is left has it in two registers. */
	bodies[BY_STACK].outlined = 0;
	identify();
	assert_unknown(&mined[AGAIN]);
}

TEST_CASE_WITH(callers_that_do_not_agree_show_nothing, prepare, NULL)
{
	queries[1].wrapper_incr = symbol(img, "wrapper_odd")->addr;
	identify();
	assert_unknown(&mined[BY_REGISTER]);
}

TEST_CASE_WITH(a_body_that_calls_through_another_argument_is_left_out, prepare, NULL)
{
	queries[1].wrapper_incr = symbol(img, "wrapper_another")->addr;
	queries[1].body_incr = queries[1].body_non_incr = ANOTHER;
	assert_true(mined[ANOTHER].masks[0].vtable.offset >= 0);
	identify();
	assert_unknown(&mined[ANOTHER]);
	assert_place(&mined[BY_REGISTER].masks[0], WIRE_REG_BP, VTABLE_NO_SLOT);
}

TEST_CASE_WITH(a_query_without_a_number_takes_its_body_s, prepare, NULL)
{
	queries[1].number = 0;
	identify();
	assert_unknown(&mined[BY_REGISTER]);
	assert_unknown(&mined[AGAIN]);
	assert_place(&mined[BY_STACK].masks[0], WIRE_REG_NONE, FRAME + 0x10);
}

TEST_MAIN(image_setup, image_teardown)
