// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/insn_length.h"
#include "plan/code/decode.h"

#include <capstone/capstone.h>
#include "test.h"
#include "../fixtures/random.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"

#define LENGTH(...)                                                   \
	({                                                            \
		const uint8_t code_[INSN_LENGTH_MAX] = {__VA_ARGS__}; \
		insn_length(code_, sizeof(code_));                    \
	})
#define N(...)	   (sizeof((uint8_t[]){__VA_ARGS__}))
#define WHOLE(...) assert_int_equal(LENGTH(__VA_ARGS__), N(__VA_ARGS__))
#define NONE(...)  assert_int_equal(LENGTH(__VA_ARGS__), 0)

TEST_CASE(an_unsupported_instruction_has_no_length)
{
	WHOLE(0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4); /* call, padded, of TLS */
	NONE(0x06);				   /* push %es */
	NONE(0xea, 1, 2, 3, 4, 5, 6);		   /* jmp far */
	NONE(0x66, 0xe8, 1, 2);	      /* call: 16 or 32 bits, depending on the vendor */
	NONE(0x8f, 0xe8, 1, 2, 3, 4); /* XOP */
	NONE(0x0f, 0x0f, 0xc1, 0x9e); /* 3DNow! */
	NONE(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
	     0x66);
}

/* insn_length() reads no byte beyond the end. */
TEST_CASE(a_truncated_instruction_has_no_length)
{
	static const uint8_t codes[][INSN_LENGTH_MAX] = {
		{0x41, 0xf6, 0x84, 0x24, 1, 2, 3, 4, 5},    {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},
		{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8},	    {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x47, 1},
		{0xc4, 0xe3, 0x7d, 0x38, 0x44, 0x24, 8, 1},
	};

	for (size_t i = 0; i < N_OF(codes); i++) {
		size_t size = insn_length(codes[i], INSN_LENGTH_MAX);

		assert_true(size > 4);
		for (size_t len = 0; len < size; len++) {
			uint8_t *exact = malloc(len + !len); /* for AddressSanitizer */

			memcpy(exact, codes[i], len);
			assert_int_equal(insn_length(exact, len), 0);
			free(exact);
		}
		assert_int_equal(insn_length(codes[i], size), size);
	}
}

/* Where Capstone finds the displacement of an operand, or a branch's: its size, 0: none. */
static uint8_t displacement_in(const cs_insn *insn, uint8_t *at)
{
	const cs_x86 *x = &insn->detail->x86;
	bool relative = false;

	for (int i = 0; i < insn->detail->groups_count; i++)
		relative = relative || insn->detail->groups[i] == CS_GRP_BRANCH_RELATIVE;
	*at = relative ? x->encoding.imm_offset : x->encoding.disp_offset;
	/* Capstone takes the prefix of the operand's size for one of the displacement's. */
	if (insn->bytes[0] == 0x66 && x->encoding.disp_size == 2)
		return 4;
	return relative ? x->encoding.imm_size : x->encoding.disp_size;
}

/* Of all bytes that both accept as an instruction, where one is found at all. */
TEST_CASE(displacements_are_those_of_capstone)
{
	struct rng r = {1};
	cs_insn *insn;
	csh cs;
	size_t found = 0;

	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &cs), CS_ERR_OK);
	cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(cs);
	for (int i = 0; i < 300000; i++) {
		uint8_t code[INSN_LENGTH_MAX + 1], at;
		struct insn_displacement d;
		const uint8_t *p = code;
		size_t len = sizeof(code);
		uint64_t addr = 0;

		for (size_t k = 0; k < sizeof(code); k++)
			code[k] = (uint8_t)rng_u64(&r);
		assert_int_equal(insn_length_displaced(code, sizeof(code), &d),
				 insn_length(code, sizeof(code)));
		/* Capstone decodes UD1 without ModRM. */
		if (!d.size || !cs_disasm_iter(cs, &p, &len, &addr, insn) ||
		    insn->id == X86_INS_UD2B)
			continue;
		if (displacement_in(insn, &at) != d.size || at != d.at)
			print_error("%s %s: %02x %02x %02x %02x\n", insn->mnemonic, insn->op_str,
				    code[0], code[1], code[2], code[3]);
		assert_int_equal(displacement_in(insn, &at), d.size);
		assert_int_equal(at, d.at);
		found++;
	}
	assert_true(found > 50000);
	cs_free(insn, 1);
	cs_close(&cs);
}

/*
 * Both give the same length for all bytes that both accept. Each may reject bytes that the other
 * accepts; insn_length() rejects encodings on which processors differ.
 */
TEST_CASE(agrees_with_capstone)
{
	struct rng r = {1};
	cs_insn *insn;
	csh cs;
	size_t both = 0;

	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &cs), CS_ERR_OK);
	insn = cs_malloc(cs);
	for (int i = 0; i < 300000; i++) {
		uint8_t code[INSN_LENGTH_MAX];
		const uint8_t *p = code;
		size_t len = sizeof(code), size;
		uint64_t addr = 0;

		for (size_t k = 0; k < sizeof(code); k++)
			code[k] = (uint8_t)rng_u64(&r);
		size = insn_length(code, sizeof(code));
		if (!size || !cs_disasm_iter(cs, &p, &len, &addr, insn))
			continue;
		/* Capstone decodes UD1 without ModRM. */
		if (insn->id == X86_INS_UD2B)
			continue;
		both++;
		if (insn->size != size)
			print_error("%s %s: %zu, not %u bytes: %02x %02x %02x %02x\n",
				    insn->mnemonic, insn->op_str, size, insn->size, code[0],
				    code[1], code[2], code[3]);
		assert_int_equal(size, insn->size);
	}
	assert_true(both > 100000);
	cs_free(insn, 1);
	cs_close(&cs);
}

/* ---- Code memo ------------------------------------------------------------------------------- */

#define TEXT   ELF_BUILDER_TEXT_ADDR
#define BYTES  16
#define ROUNDS 20

/* It is not found by its bytes elsewhere, as its target is not what they say. */
TEST_CASE(an_unclear_displacement_is_part_of_the_instruction)
{
	static const uint8_t jmp[] = {0xe9, 0x10, 0, 0, 0};
	const struct code_insn insn = {.addr = 0x1000, .target = 0x15, .size = 5, .flow = CODE_JMP};
	struct code_memo *memo = code_memo__new();
	struct code_insn found;

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
	assert_pairs(a->addr, b->addr, a->target, b->target, a->disp, b->disp, a->sp_adjust,
		     b->sp_adjust, a->imm, b->imm, a->writes, b->writes, a->size, b->size,
		     a->stores, b->stores, a->flow, b->flow, a->shape, b->shape, a->reg, b->reg,
		     a->base, b->base, a->sets_flags, b->sets_flags, a->emulated, b->emulated);
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

TEST_CASE(a_decoder_says_the_same_the_second_time)
{
	struct rng rng = rng_new();

	for (size_t i = 0; i < ROUNDS; i++)
		compare_decoders(&rng);
}

TEST_MAIN(NULL, NULL)
