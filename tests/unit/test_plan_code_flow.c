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

TEST_CASE_WITH(fields_are_forgotten_first, follow_crowded, leave)
{
	struct flow_state s = state_at("crowded.all");

	assert_int_equal(s.n_slots, FLOW_SLOTS);
	assert_slot(&s, 0, FLOW_CONST, 7);
	assert_null(flow_state__slot(&s, s.sp + 8));
}

TEST_CASE_WITH(what_is_pushed_for_a_call_is_known, follow_stacked, leave)
{
	struct flow_state s = state_at("stacked.pushed");

	assert_slot(&s, 0, FLOW_ARGUMENT, 8);
	assert_slot(&s, 8, FLOW_STACK, -0x10);
	/* A register that is to be preserved is not passed. */
	assert_null(flow_state__slot(&s, -8));
}

TEST_CASE_WITH(an_argument_that_may_be_written_over_is_not_known, follow_stacked, leave)
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

TEST_GROUP(straight_setup, straight_teardown)

TEST_CASE(constants_are_stored)
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

TEST_CASE(unknown_bytes_stay_unknown)
{
	_straight_ struct straight *s = ran("unknown", 0);

	assert_unknown(s, 0);
	assert_word(s, 8, 1ull << 32 | 3);
	assert_unknown(s, 16);
	assert_word(s, 24, 4);
}

TEST_CASE(vectors_are_copied)
{
	_straight_ struct straight *s = ran("vectors", 0);

	assert_word(s, 0, 0);
	assert_word(s, 8, 0);
	assert_word(s, 32, 1);
	assert_word(s, 40, 2);
	assert_word(s, 48, 2);
	assert_word(s, 56, 0);
}

TEST_CASE(the_argument_decides)
{
	for (uint64_t argument = 0; argument < 2; argument++) {
		_straight_ struct straight *s = ran("choices", argument);

		assert_word(s, 0, 2 + argument);
		assert_word(s, 8, argument);
		assert_word(s, 16, argument);
	}
}

TEST_CASE(loops_end)
{
	_straight_ struct straight *s = ran("pages", 0);

	assert_word(s, 0, 9);
}

TEST_CASE(calls_are_run_or_passed_over)
{
	_straight_ struct straight *s = ran("calls", 0);

	assert_word(s, 0, 1);
	assert_word(s, 8, 2);
	assert_word(s, 16, 77);
	assert_unknown(s, 24);
	assert_word(s, 64, 1);
	assert_word(s, 72, 0x0101010101010101);
}

TEST_CASE(what_does_not_return_is_refused)
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
TEST_CASE(recursion_is_limited)
{
	_straight_ struct straight *s = ran("recursive", 0);

	assert_unknown(s, 0);
}

TEST_CASE(memory_outside_is_left_alone)
{
	_straight_ struct straight *s = ran("outside", 0x1000);

	assert_unknown(s, 0);
}

TEST_CASE(all_that_is_written_over_is_forgotten)
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

TEST_CASE(flags_do_not_decide_what_asks_rcx)
{
	_straight_ struct straight *s = ran("counted", 0);

	assert_word(s, 0, 1);
	assert_unknown(s, 8);
}

TEST_CASE(a_move_that_is_not_made_clears_the_upper_half)
{
	_straight_ struct straight *s = ran("not_moved", 0);

	assert_word(s, 0, UINT32_MAX);
}

TEST_CASE(wide_stores_are_forgotten_whole)
{
	_straight_ struct straight *s = ran("wide", 0);

	assert_unknown(s, 0);
	assert_unknown(s, 56);
	assert_word(s, 64, 1);
	assert_unknown(s, 1024);
}

TEST_CASE(constants_of_the_library_are_known)
{
	_straight_ struct straight *s = ran("library_words", 0);

	assert_word(s, 0, symbol(straight_img, "constants")->addr);
	assert_word(s, 8, 0);
	assert_word(s, 16, 7);
	assert_unknown(s, 24);
	assert_unknown(s, 32);
}

TEST_CASE(copies_are_made)
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

TEST_CASE(the_mode_of_one_thread_decides)
{
	_straight_ struct straight *s = ran("mode", 0);

	assert_word(s, 0, 1);
}

TEST_MAIN(setup, teardown)
