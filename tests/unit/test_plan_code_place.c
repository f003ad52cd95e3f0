// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/place.h"

#include "test.h"
#include "plan/code/insn.h"

static struct sum_nodes nodes;

static struct sum entry(uint8_t reg)
{
	return sum_of_node(&nodes, (struct sum_node){.kind = SUM_ENTRY, .reg = reg});
}

static struct sum load(struct sum from, int64_t at, uint8_t size)
{
	struct sum_node node = {.kind = SUM_LOAD, .size = size};

	node.of = sum_add(from, sum_constant((uint64_t)at));
	return sum_of_node(&nodes, node);
}

static bool place(struct sum value, struct wire_place *out)
{
	return place_of(&nodes, &value, out);
}

static void a_register_is_a_place_without_loads(void **state)
{
	struct wire_place p;

	assert_true(place(entry(WIRE_REG_BX), &p));
	assert_int_equal(p.reg, WIRE_REG_BX);
	assert_int_equal(p.n, 0);
	assert_true(place_is_sound(&p));
}

static void loads_are_in_the_order_in_which_they_are_made(void **state)
{
	struct wire_place p;

	assert_true(place(load(load(entry(CODE_REG_SP), 0x40, 8), -8, 4), &p));
	assert_int_equal(p.reg, WIRE_PLACE_SP);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.at[0], 0x40);
	assert_int_equal(p.at[1], -8);
	assert_int_equal(p.size, 4);
	assert_true(place_is_sound(&p));
}

static void what_a_probe_cannot_read_is_no_place(void **state)
{
	struct sum bx = entry(WIRE_REG_BX), deep = bx, thread;
	struct sum_node at_fs = {.kind = SUM_LOAD, .size = 8, .thread = true, .of = bx};
	struct wire_place p = {.reg = 77};

	thread = sum_of_node(&nodes, at_fs);
	for (int i = 0; i < WIRE_PLACE_LOADS; i++)
		deep = load(deep, 8, 8);
	assert_true(place(deep, &p));
	assert_int_equal(p.n, WIRE_PLACE_LOADS);
	p.reg = 77;
	assert_false(place(load(deep, 8, 8), &p));
	assert_false(place(sum_unknown, &p));
	assert_false(place(sum_constant(5), &p));
	assert_false(place(sum_add(bx, sum_constant(8)), &p));
	assert_false(place(sum_scale(bx, 2), &p));
	assert_false(place(sum_add(bx, entry(WIRE_REG_CX)), &p));
	assert_false(place(thread, &p));
	assert_false(place(load(bx, 0, 2), &p));
	assert_false(place(load(load(bx, 0, 4), 0, 8), &p));
	assert_false(place(load(bx, 1 << 20, 8), &p));
	assert_false(place(load(bx, -(1 << 20), 8), &p));
	assert_int_equal(p.reg, 77);
}

static void a_plan_holds_only_sound_places(void **state)
{
	const struct wire_place good = {WIRE_REG_R15, 1, 8, 0, {8}};
	struct wire_place p = good;

	assert_true(place_is_sound(&p));
	p.reg = WIRE_PLACE_SP + 1;
	assert_false(place_is_sound(&p));
	p = good;
	p.n = WIRE_PLACE_LOADS + 1;
	assert_false(place_is_sound(&p));
	p = good;
	p.size = 2;
	assert_false(place_is_sound(&p));
	p = good;
	p.at[3] = 1 << 20;
	assert_false(place_is_sound(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_register_is_a_place_without_loads),
		cmocka_unit_test(loads_are_in_the_order_in_which_they_are_made),
		cmocka_unit_test(what_a_probe_cannot_read_is_no_place),
		cmocka_unit_test(a_plan_holds_only_sound_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
