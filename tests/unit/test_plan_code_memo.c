// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/memo.h"

#include "plan/code/decode.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/random.h"
#include "../fixtures/library.h"

#define TEXT   ELF_BUILDER_TEXT_ADDR
#define BYTES  16
#define ROUNDS 20

static void a_stored_instruction_is_found_at_any_address(void **state)
{
	static const uint8_t jmp[] = {0xe9, 0x10, 0, 0, 0},
			     farther[] = {0xe9, 0xf0, 0xff, 0xff, 0xff};
	const struct code_insn insn = {
		.addr = 0x1000, .target = 0x1015, .size = 5, .flow = CODE_JMP, .disp = 7};
	struct code_memo *memo = code_memo__new();
	struct code_insn found;

	assert_int_equal(code_memo__find(memo, jmp, sizeof(jmp), 0x1000, &found), 0);
	code_memo__add(memo, jmp, &insn);
	assert_int_equal(code_memo__find(memo, jmp, sizeof(jmp), 0x2000, &found), 5);
	assert_int_equal(found.addr, 0x2000);
	assert_int_equal(found.target, 0x2015);
	assert_int_equal(found.disp, 7);
	assert_int_equal(code_memo__find(memo, farther, sizeof(farther), 0x2000, &found), 5);
	assert_int_equal(found.target, 0x1ff5);
	code_memo__free(memo);
}

static void a_truncated_instruction_is_not_found(void **state)
{
	static const uint8_t mov[] = {0x48, 0x8b, 0x44, 0x24, 0x08};
	const struct code_insn insn = {.addr = 0x1000, .size = 5, .shape = CODE_LOAD64};
	struct code_memo *memo = code_memo__new();
	struct code_insn found;

	code_memo__add(memo, mov, &insn);
	for (size_t len = 0; len < sizeof(mov); len++)
		assert_int_equal(code_memo__find(memo, mov, len, 0x1000, &found), 0);
	assert_int_equal(code_memo__find(memo, mov, sizeof(mov), 0x1000, &found), 5);
	code_memo__free(memo);
}

/* Of instructions that differ only by a displacement, one is enough, if it shows where that is. */
static void any_displacement_is_found(void **state)
{
	static const uint8_t mov[] = {0x48, 0x8b, 0x44, 0x24, 0x08},
			     far[] = {0x48, 0x8b, 0x44, 0x24, 0xf0},
			     none[] = {0x48, 0x8b, 0x44, 0x24, 0x00},
			     add[] = {0x48, 0x03, 0x45, 0x10}, add_far[] = {0x48, 0x03, 0x45, 0x80};
	struct code_insn insn = {.addr = 0x1000, .size = 5, .shape = CODE_LOAD64, .reg = 1};
	struct code_memo *memo = code_memo__new();
	struct code_insn found;

	/* 0 does not show it. */
	code_memo__add(memo, none, &insn);
	assert_int_equal(code_memo__find(memo, mov, sizeof(mov), 0x2000, &found), 0);
	assert_int_equal(code_memo__find(memo, none, sizeof(none), 0x2000, &found), 5);
	insn.disp = 8;
	code_memo__add(memo, mov, &insn);
	assert_int_equal(code_memo__find(memo, far, sizeof(far), 0x2000, &found), 5);
	assert_int_equal(found.disp, -16);
	assert_int_equal(found.reg, 1);
	assert_int_equal(code_memo__find(memo, none, sizeof(none), 0x2000, &found), 5);
	assert_int_equal(found.disp, 0);
	/* It is in no field. */
	insn = (struct code_insn){.addr = 0x1000, .size = 4};
	code_memo__add(memo, add, &insn);
	assert_int_equal(code_memo__find(memo, add_far, sizeof(add_far), 0x2000, &found), 4);
	assert_int_equal(found.disp, 0);
	code_memo__free(memo);
}

/* A field that depends on a displacement in another way makes the instruction one of its own. */
static void an_unclear_displacement_is_part_of_the_instruction(void **state)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x64, 0x24, 0x08},
			     far[] = {0x48, 0x8d, 0x64, 0x24, 0x10}, jmp[] = {0xe9, 0x10, 0, 0, 0};
	struct code_insn insn = {
		.addr = 0x1000, .size = 5, .shape = CODE_LEA, .sp_adjust = 8, .disp = 8};
	struct code_memo *memo = code_memo__new();
	struct code_insn found;

	code_memo__add(memo, lea, &insn);
	assert_int_equal(code_memo__find(memo, lea, sizeof(lea), 0x2000, &found), 5);
	assert_int_equal(found.sp_adjust, 8);
	assert_int_equal(code_memo__find(memo, far, sizeof(far), 0x2000, &found), 0);
	insn = (struct code_insn){.addr = 0x1000, .target = 0x15, .size = 5, .flow = CODE_JMP};
	code_memo__add(memo, jmp, &insn);
	assert_int_equal(code_memo__find(memo, jmp, sizeof(jmp), 0x1000, &found), 0);
	code_memo__free(memo);
}

/* Random bytes, half of which begin many instructions. */
static void fill(struct rng *rng, uint8_t *bytes, size_t n)
{
	static const uint8_t common[] = {0x48, 0x4c, 0x41, 0x66, 0xf2, 0xf3, 0x0f,
					 0x8b, 0x89, 0x8d, 0xe8, 0xe9, 0xeb, 0x74,
					 0x84, 0xff, 0x15, 0x25, 0x05, 0x67};

	for (size_t i = 0; i < n; i++)
		bytes[i] = rng_below(rng, 2) ? common[rng_below(rng, sizeof(common))]
					     : (uint8_t)rng_u64(rng);
}

static void expect_same(const struct code_insn *a, const struct code_insn *b)
{
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->disp, b->disp);
	assert_int_equal(a->sp_adjust, b->sp_adjust);
	assert_int_equal(a->imm, b->imm);
	assert_int_equal(a->writes, b->writes);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->stores, b->stores);
	assert_int_equal(a->flow, b->flow);
	assert_int_equal(a->shape, b->shape);
	assert_int_equal(a->reg, b->reg);
	assert_int_equal(a->base, b->base);
	assert_int_equal(a->sets_flags, b->sets_flags);
	assert_int_equal(a->emulated, b->emulated);
}

/* The same bytes occur often. A used decoder must return the same results as a new one. */
static void compare_decoders(struct rng *rng)
{
	static const struct elf_builder_symbol sym = {"f", TEXT, 8, STT_FUNC, ELF_BUILDER_TEXT};
	uint8_t text[ELF_BUILDER_TEXT_SIZE];
	struct elf_builder b = {.text = text, .text_len = sizeof(text)};
	_elf_image_ struct elf_image *img = NULL;
	_code_decoder_ struct code_decoder *used = NULL;

	fill(rng, text, BYTES);
	for (size_t i = BYTES; i < sizeof(text); i += BYTES) {
		memcpy(text + i, text, BYTES);
		text[i + rng_below(rng, BYTES)] = (uint8_t)rng_u64(rng);
	}
	elf_builder__build(&b, &sym, 1);
	assert_int_equal(image_of_bytes(b.buf, b.len, &img), 0);
	assert_int_equal(code_decoder__new(img, &used), 0);
	for (size_t i = 0; i < sizeof(text); i++) {
		_code_decoder_ struct code_decoder *fresh = NULL;
		struct code_insn expected, said;

		assert_int_equal(code_decoder__new(img, &fresh), 0);
		if (!code_decoder__at(fresh, TEXT + i, &expected)) {
			assert_false(code_decoder__at(used, TEXT + i, &said));
			continue;
		}
		assert_true(code_decoder__at(used, TEXT + i, &said));
		expect_same(&said, &expected);
	}
}

static void a_decoder_says_the_same_the_second_time(void **state)
{
	struct rng rng = rng_new();

	for (size_t i = 0; i < ROUNDS; i++)
		compare_decoders(&rng);
}

static void nothing_is_nothing_to_free(void **state)
{
	code_memo__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stored_instruction_is_found_at_any_address),
		cmocka_unit_test(a_truncated_instruction_is_not_found),
		cmocka_unit_test(any_displacement_is_found),
		cmocka_unit_test(an_unclear_displacement_is_part_of_the_instruction),
		cmocka_unit_test(a_decoder_says_the_same_the_second_time),
		cmocka_unit_test(nothing_is_nothing_to_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
