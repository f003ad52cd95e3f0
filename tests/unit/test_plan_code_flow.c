// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/flow.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/symbols.h"
#include "../fixtures/library.h"

/* A function of tests/fixtures/guards.s. Its marks name the instructions. */
static struct elf_image *img;
static struct code_decoder *decoder;
static struct code code;
static struct code_region region;
static struct walk walk;
static struct flow *flow;

static int follow(const char *function)
{
	const struct elf_symbol *sym = find_symbol(img, function);

	region = (struct code_region){sym->addr, sym->size};
	return code_decoder__decode(decoder, &region, 1, &code)
		       ?: walk__init(&walk, img, &code, sym->addr)
		       ?: flow__new(&walk, sym->addr, NULL, NULL, &flow);
}

static int follow_ways(void **state)
{
	return follow("ways");
}

static int follow_crowded(void **state)
{
	return follow("crowded");
}

static int follow_stacked(void **state)
{
	return follow("stacked");
}

static int leave(void **state)
{
	flow__free(flow);
	walk__fini(&walk);
	return 0;
}

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("guards.so"), &img))
		return -1;
	return code_decoder__new(img, &decoder);
}

static int teardown(void **state)
{
	code__free(&code);
	code_decoder__free(decoder);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static struct flow_state state_at(const char *mark)
{
	const struct elf_symbol *sym = find_symbol(img, mark);
	struct flow_state s;

	assert_non_null(sym);
	flow__at(flow, code__index(&code, sym->addr), &s);
	assert_true(s.reached);
	assert_true(s.has_sp);
	return s;
}

static void assert_value(struct flow_value v, enum flow_kind kind, int64_t value)
{
	assert_int_equal(v.kind, kind);
	assert_int_equal(v.value, value);
}

static void assert_slot(const struct flow_state *s, int64_t disp, enum flow_kind kind,
			int64_t value)
{
	const struct flow_slot *slot = flow_state__slot(s, s->sp + disp);

	assert_non_null(slot);
	assert_int_equal(slot->value.kind, kind);
	if (kind)
		assert_int_equal(slot->value.value, value);
}

static void a_call_clobbers_what_it_may(void **state)
{
	struct flow_state s = state_at("ways.one");

	assert_int_equal(s.sp, -0x50);
	assert_value(s.regs[WIRE_REG_R14], FLOW_ENTRY, WIRE_REG_DI);
	assert_value(s.regs[WIRE_REG_BX], FLOW_CONST, 0);
	assert_int_equal(s.regs[WIRE_REG_SI].kind, FLOW_UNKNOWN);
	assert_slot(&s, 8, FLOW_ENTRY, WIRE_REG_SI);
}

static void a_wide_store_covers_two_slots(void **state)
{
	struct flow_state s = state_at("ways.one");

	assert_slot(&s, 0x10, FLOW_UNKNOWN, 0);
	assert_slot(&s, 0x18, FLOW_UNKNOWN, 0);
}

static void ways_must_agree(void **state)
{
	struct flow_state s = state_at("ways.both");

	assert_value(s.regs[WIRE_REG_R14], FLOW_ENTRY, WIRE_REG_DI);
	assert_slot(&s, 8, FLOW_ENTRY, WIRE_REG_SI);
	assert_slot(&s, 0x10, FLOW_UNKNOWN, 0);
	assert_int_equal(s.regs[WIRE_REG_CX].kind, FLOW_UNKNOWN);
	assert_value(s.regs[WIRE_REG_AX], FLOW_CONST, 7);
	assert_value(s.regs[WIRE_REG_BX], FLOW_STACK, -0x30);
	assert_null(flow_state__slot(&s, s.sp + 0x28));
}

static void what_a_caller_passes_by_address_is_a_value(void **state)
{
	struct flow_state s = state_at("ways.one");
	struct flow_value field = flow_field(WIRE_REG_DI, -0x28);

	assert_slot(&s, 0x30, FLOW_FIELD, field.value);
	assert_int_equal(s.regs[WIRE_REG_R9].kind, FLOW_UNKNOWN);
	assert_true(field.value != flow_field(WIRE_REG_SI, -0x28).value);
	assert_true(field.value != flow_field(WIRE_REG_DI, -0x30).value);
}

static void fields_are_forgotten_first(void **state)
{
	struct flow_state s = state_at("crowded.all");

	assert_int_equal(s.n_slots, FLOW_SLOTS);
	assert_slot(&s, 0, FLOW_CONST, 7);
	assert_null(flow_state__slot(&s, s.sp + 8));
}

static void the_stack_pointer_is_known(void **state)
{
	assert_int_equal(state_at("ways.popped").sp, -0x10);
}

static void arguments_may_be_on_the_stack(void **state)
{
	struct flow_state s = state_at("stacked.pushed");

	assert_value(s.regs[WIRE_REG_BX], FLOW_ARGUMENT, 8);
	assert_value(s.regs[WIRE_REG_AX], FLOW_ARGUMENT, 8);
	assert_false(s.spoiled);
}

static void what_is_pushed_for_a_call_is_known(void **state)
{
	struct flow_state s = state_at("stacked.pushed");

	assert_slot(&s, 0, FLOW_ARGUMENT, 8);
	assert_slot(&s, 8, FLOW_STACK, -0x10);
	/* A register that is to be preserved is not passed. */
	assert_null(flow_state__slot(&s, -8));
}

static void an_argument_that_may_be_written_over_is_not_known(void **state)
{
	struct flow_state s = state_at("stacked.spoiled");

	assert_true(s.spoiled);
	assert_int_equal(s.regs[WIRE_REG_DX].kind, FLOW_UNKNOWN);
	assert_value(s.regs[WIRE_REG_BX], FLOW_ARGUMENT, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_clobbers_what_it_may, follow_ways, leave),
		cmocka_unit_test_setup_teardown(a_wide_store_covers_two_slots, follow_ways, leave),
		cmocka_unit_test_setup_teardown(ways_must_agree, follow_ways, leave),
		cmocka_unit_test_setup_teardown(the_stack_pointer_is_known, follow_ways, leave),
		cmocka_unit_test_setup_teardown(arguments_may_be_on_the_stack, follow_stacked,
						leave),
		cmocka_unit_test_setup_teardown(what_is_pushed_for_a_call_is_known, follow_stacked,
						leave),
		cmocka_unit_test_setup_teardown(an_argument_that_may_be_written_over_is_not_known,
						follow_stacked, leave),
		cmocka_unit_test_setup_teardown(what_a_caller_passes_by_address_is_a_value,
						follow_ways, leave),
		cmocka_unit_test_setup_teardown(fields_are_forgotten_first, follow_crowded, leave),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
