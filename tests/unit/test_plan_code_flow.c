// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/flow.h"
#include "plan/code/straight.h"

#include "test.h"
#define LIBRARY "guards.so"
#include "../fixtures/image.h"

/* A function of tests/fixtures/guards.s. Its marks name the instructions. */
static struct code code;
static struct code_region region;
static struct walk walk;
static struct fixpoint *flow;

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
	fixpoint__free(flow);
	walk__fini(&walk);
	return 0;
}

static int setup(void **state)
{
	return image_setup(state) ?: 0;
}

static int teardown(void **state)
{
	code__free(&code);
	return image_teardown(state);
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

/* ---- Code straight --------------------------------------------------------------------------- */

/* The assembled tests/fixtures/straight.s. */
static struct elf_image *straight_img;

static int straight_setup(void **state)
{
	if (fixture_dir_setup(state))
		return -1;
	return image_of(fixture("straight.so"), &straight_img);
}

static int straight_teardown(void **state)
{
	elf_image__free(straight_img);
	return fixture_dir_teardown(state);
}

static struct straight *ran(const char *name, uint64_t argument)
{
	struct straight *s = NULL;

	assert_int_equal(
		straight__run(straight_img, symbol(straight_img, name)->addr, argument, &s), 0);
	return s;
}

static void assert_word(const struct straight *s, uint32_t at, uint64_t expected)
{
	uint64_t value;

	assert_true(straight__word(s, at, &value));
	assert_int_equal(value, expected);
}

static void assert_unknown(const struct straight *s, uint32_t at)
{
	uint64_t value;

	assert_false(straight__word(s, at, &value));
}

static void constants_are_stored(void **state)
{
	_straight_ struct straight *s = ran("constants", 0);

	assert_word(s, 0, -2ull);
	assert_word(s, 8, 0x1122334455667788);
	assert_word(s, 16, 0x1122334455667799);
	assert_word(s, 24, symbol(straight_img, "constants")->addr);
	assert_word(s, 32, 5);
	assert_word(s, 40, 8ull << 32 | 7);
	assert_unknown(s, 48);
	assert_unknown(s, STRAIGHT_RESULT - 8);
	assert_unknown(s, STRAIGHT_RESULT - 4);
}

static void unknown_bytes_stay_unknown(void **state)
{
	_straight_ struct straight *s = ran("unknown", 0);

	assert_unknown(s, 0);
	assert_word(s, 8, 1ull << 32 | 3);
	assert_unknown(s, 16);
	assert_word(s, 24, 4);
}

static void vectors_are_copied(void **state)
{
	_straight_ struct straight *s = ran("vectors", 0);

	assert_word(s, 0, 0);
	assert_word(s, 8, 0);
	assert_word(s, 32, 1);
	assert_word(s, 40, 2);
	assert_word(s, 48, 2);
	assert_word(s, 56, 0);
}

static void the_argument_decides(void **state)
{
	for (uint64_t argument = 0; argument < 2; argument++) {
		_straight_ struct straight *s = ran("choices", argument);

		assert_word(s, 0, 2 + argument);
		assert_word(s, 8, argument);
		assert_word(s, 16, argument);
	}
}

static void loops_end(void **state)
{
	_straight_ struct straight *s = ran("pages", 0);

	assert_word(s, 0, 9);
}

static void calls_are_run_or_passed_over(void **state)
{
	_straight_ struct straight *s = ran("calls", 0);

	assert_word(s, 0, 1);
	assert_word(s, 8, 2);
	assert_word(s, 16, 77);
	assert_unknown(s, 24);
	assert_word(s, 64, 1);
	assert_word(s, 72, 0x0101010101010101);
}

static void what_does_not_return_is_refused(void **state)
{
	static const char *const names[] = {"forever", "trap"};

	for (size_t i = 0; i < N_OF(names); i++) {
		struct straight *s = NULL;

		assert_int_equal(
			straight__run(straight_img, symbol(straight_img, names[i])->addr, 0, &s),
			-ENOTSUP);
		assert_null(s);
	}
}

/* The calls that are run are limited; what lies behind is passed over. */
static void recursion_is_limited(void **state)
{
	_straight_ struct straight *s = ran("recursive", 0);

	assert_unknown(s, 0);
}

static void memory_outside_is_left_alone(void **state)
{
	_straight_ struct straight *s = ran("outside", 0x1000);

	assert_unknown(s, 0);
}

static void all_that_is_written_over_is_forgotten(void **state)
{
	_straight_ struct straight *s = ran("repeated", 0);
	_straight_ struct straight *any = ran("repeated_unknown", 0);

	assert_word(s, 0, 1);
	for (uint32_t i = 1; i <= 3; i++)
		assert_unknown(s, 8 * i);
	assert_word(s, 32, 5);
	assert_unknown(s, 40);
	assert_word(any, 0, 1);
	assert_unknown(any, 8);
	assert_unknown(any, 0x800);
}

static void flags_do_not_decide_what_asks_rcx(void **state)
{
	_straight_ struct straight *s = ran("counted", 0);

	assert_word(s, 0, 1);
	assert_unknown(s, 8);
}

static void a_move_that_is_not_made_clears_the_upper_half(void **state)
{
	_straight_ struct straight *s = ran("not_moved", 0);

	assert_word(s, 0, UINT32_MAX);
}

static void wide_stores_are_forgotten_whole(void **state)
{
	_straight_ struct straight *s = ran("wide", 0);

	assert_unknown(s, 0);
	assert_unknown(s, 56);
	assert_word(s, 64, 1);
	assert_unknown(s, 1024);
}

static void constants_of_the_library_are_known(void **state)
{
	_straight_ struct straight *s = ran("library_words", 0);

	assert_word(s, 0, symbol(straight_img, "constants")->addr);
	assert_word(s, 8, 0);
	assert_word(s, 16, 7);
	assert_unknown(s, 24);
	assert_unknown(s, 32);
}

static void copies_are_made(void **state)
{
	_straight_ struct straight *s = ran("copied", 0);
	uint64_t words[3];

	assert_true(straight__bytes(s, 64, words, sizeof(words)));
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(words[i], i + 1);
	assert_word(s, 0, 1);
	assert_unknown(s, 8);
	assert_unknown(s, 16);
	assert_false(straight__bytes(s, 0, words, sizeof(words)));
	assert_false(straight__bytes(s, STRAIGHT_RESULT - 8, words, sizeof(words)));
}

static void the_mode_of_one_thread_decides(void **state)
{
	_straight_ struct straight *s = ran("mode", 0);

	assert_word(s, 0, 1);
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
	const struct CMUnitTest straight_tests[] = {
		cmocka_unit_test(constants_are_stored),
		cmocka_unit_test(unknown_bytes_stay_unknown),
		cmocka_unit_test(vectors_are_copied),
		cmocka_unit_test(the_argument_decides),
		cmocka_unit_test(loops_end),
		cmocka_unit_test(calls_are_run_or_passed_over),
		cmocka_unit_test(what_does_not_return_is_refused),
		cmocka_unit_test(recursion_is_limited),
		cmocka_unit_test(memory_outside_is_left_alone),
		cmocka_unit_test(all_that_is_written_over_is_forgotten),
		cmocka_unit_test(flags_do_not_decide_what_asks_rcx),
		cmocka_unit_test(a_move_that_is_not_made_clears_the_upper_half),
		cmocka_unit_test(wide_stores_are_forgotten_whole),
		cmocka_unit_test(constants_of_the_library_are_known),
		cmocka_unit_test(copies_are_made),
		cmocka_unit_test(the_mode_of_one_thread_decides),
	};

	return cmocka_run_group_tests(tests, setup, teardown) +
	       cmocka_run_group_tests(straight_tests, straight_setup, straight_teardown);
}
