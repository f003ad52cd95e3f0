// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/insn_length.h"
#include "plan/code/decode.h"

#include <capstone/capstone.h>
#include "test.h"
#include "../fixtures/random.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"

#define LENGTH(...)                                                   \
	({                                                            \
		const uint8_t code_[INSN_LENGTH_MAX] = {__VA_ARGS__}; \
		insn_length(code_, sizeof(code_));                    \
	})
#define N(...)	   (sizeof((uint8_t[]){__VA_ARGS__}))
#define WHOLE(...) assert_int_equal(LENGTH(__VA_ARGS__), N(__VA_ARGS__))
#define NONE(...)  assert_int_equal(LENGTH(__VA_ARGS__), 0)

TEST_CASE(instructions_of_compilers_have_the_right_length)
{
	WHOLE(0x55);					    /* push %rbp */
	WHOLE(0x41, 0x57);				    /* push %r15 */
	WHOLE(0x48, 0x81, 0xec, 1, 2, 3, 4);		    /* sub $.., %rsp */
	WHOLE(0x66, 0x81, 0xf9, 1, 2);			    /* cmp $.., %cx */
	WHOLE(0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8);	    /* movabs */
	WHOLE(0x66, 0xb8, 1, 2);			    /* mov $.., %ax */
	WHOLE(0x41, 0xf6, 0x84, 0x24, 1, 2, 3, 4, 5);	    /* testb $5, d32(%r12) */
	WHOLE(0xf7, 0xd8);				    /* neg %eax */
	WHOLE(0xf7, 0xc0, 1, 2, 3, 4);			    /* test $.., %eax */
	WHOLE(0x0f, 0x85, 1, 2, 3, 4);			    /* jne */
	WHOLE(0x75, 1);					    /* jne, short */
	WHOLE(0xe8, 1, 2, 3, 4);			    /* call */
	WHOLE(0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4);	    /* call, padded, of TLS */
	WHOLE(0xff, 0x15, 1, 2, 3, 4);			    /* call *rip */
	WHOLE(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 1, 2, 3, 4); /* nopw */
	WHOLE(0xf0, 0x0f, 0xc1, 0x50, 0x10);		    /* lock xadd */
	WHOLE(0x8b, 0x04, 0x25, 1, 2, 3, 4);		    /* mov abs, %eax */
	WHOLE(0x8b, 0x44, 0x24, 8);			    /* mov 8(%rsp), %eax */
	WHOLE(0x64, 0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4);    /* mov %fs:.., %rax */
	WHOLE(0x66, 0x0f, 0x38, 0x00, 0xc1);		    /* pshufb */
	WHOLE(0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8);		    /* palignr */
	WHOLE(0xc5, 0xf8, 0x77);			    /* vzeroupper */
	WHOLE(0xc4, 0xe2, 0x7d, 0x5a, 0x47, 0x20);	    /* vbroadcasti128 */
	WHOLE(0xc4, 0xe3, 0x7d, 0x38, 0xd2, 1);		    /* vinserti128 */
	WHOLE(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x47, 1);	    /* vmovups, AVX-512 */
	WHOLE(0xcc);					    /* int3 */
	WHOLE(0x0f, 0x0b);				    /* ud2 */
}

TEST_CASE(an_unsupported_instruction_has_no_length)
{
	NONE(0x06);		      /* push %es */
	NONE(0xea, 1, 2, 3, 4, 5, 6); /* jmp far */
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

#define DISPLACEMENT(...)                                                          \
	({                                                                         \
		const uint8_t code_[INSN_LENGTH_MAX + 1] = {__VA_ARGS__};          \
		struct insn_displacement d_;                                       \
                                                                                   \
		assert_int_equal(insn_length_displaced(code_, sizeof(code_), &d_), \
				 N(__VA_ARGS__));                                  \
		d_;                                                                \
	})
#define DISPLACED(at_, size_, ...)                                        \
	do {                                                              \
		struct insn_displacement is_ = DISPLACEMENT(__VA_ARGS__); \
                                                                          \
		assert_int_equal(is_.size, size_);                        \
		assert_int_equal(is_.at, at_);                            \
	} while (0)
#define NOT_DISPLACED(...) assert_int_equal(DISPLACEMENT(__VA_ARGS__).size, 0)

TEST_CASE(a_displacement_is_found)
{
	DISPLACED(3, 1, 0x8b, 0x44, 0x24, 8);			/* mov 8(%rsp), %eax */
	DISPLACED(4, 4, 0x48, 0x8b, 0x84, 0x24, 1, 2, 3, 4);	/* mov d32(%rsp), %rax */
	DISPLACED(3, 4, 0x48, 0x8d, 0x05, 1, 2, 3, 4);		/* lea d32(%rip), %rax */
	DISPLACED(3, 4, 0x8b, 0x04, 0x25, 1, 2, 3, 4);		/* mov abs, %eax */
	DISPLACED(4, 4, 0x41, 0xf6, 0x84, 0x24, 1, 2, 3, 4, 5); /* testb $5, d32(%r12) */
	DISPLACED(2, 4, 0xc7, 0x80, 1, 2, 3, 4, 5, 6, 7, 8);	/* movl $.., d32(%rax) */
	DISPLACED(4, 1, 0xf3, 0x0f, 0x10, 0x45, 8);		/* movss 8(%rbp), %xmm0 */
	DISPLACED(1, 4, 0xe8, 1, 2, 3, 4);			/* call */
	DISPLACED(2, 4, 0x0f, 0x85, 1, 2, 3, 4);		/* jne */
	DISPLACED(1, 1, 0x75, 1);				/* jne, short */
	DISPLACED(1, 1, 0xe3, 1);				/* jrcxz */
	DISPLACED(2, 4, 0xff, 0x15, 1, 2, 3, 4);		/* call *rip */
	NOT_DISPLACED(0x55);					/* push %rbp */
	NOT_DISPLACED(0x48, 0x89, 0xe5);			/* mov %rsp, %rbp */
	NOT_DISPLACED(0x8b, 0x04, 0x24);			/* mov (%rsp), %eax */
	NOT_DISPLACED(0xb8, 1, 2, 3, 4);			/* mov $.., %eax */
	NOT_DISPLACED(0x04, 1);					/* add $1, %al */
	NOT_DISPLACED(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x47, 1);	/* vmovups: not looked for */
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

TEST_CASE(a_stored_instruction_is_found_at_any_address)
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

TEST_CASE(a_truncated_instruction_is_not_found)
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
TEST_CASE(any_displacement_is_found)
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
TEST_CASE(an_unclear_displacement_is_part_of_the_instruction)
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

TEST_CASE(a_decoder_says_the_same_the_second_time)
{
	struct rng rng = rng_new();

	for (size_t i = 0; i < ROUNDS; i++)
		compare_decoders(&rng);
}

TEST_CASE(nothing_is_nothing_to_free)
{
	code_memo__free(NULL);
}

TEST_MAIN(NULL, NULL)
