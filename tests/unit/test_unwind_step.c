// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The steps of the user half are those of the kernel half, which has tests of its own. */
#include "unwind/step.h"

#include "test.h"

#include "../../bpf/unwind.h"
#include "../fixtures/random.h"

#define STACK  0x7ffe00000000ull
#define WORDS  64
#define ROUNDS 200000

static uint64_t memory[WORDS];

static bool read_word(void *ctx, uint64_t addr, uint64_t *word)
{
	if (addr < STACK || addr - STACK > sizeof(memory) - sizeof(*word))
		return false;
	memcpy(word, (const char *)memory + (addr - STACK), sizeof(*word));
	return true;
}

static int unwind_read(wire_u64 words[2], wire_u32 size, wire_u64 addr)
{
	for (wire_u32 i = 0; i < size / 8; i++)
		if (!read_word(NULL, addr + 8 * i, (uint64_t *)&words[i]))
			return -1;
	return 0;
}

static const wire_u8 *unwind_block(wire_u32 number)
{
	return NULL;
}

static struct unwind_recent *unwind_recent(wire_u32 at)
{
	return NULL;
}

static wire_u64 unwind_llvm(wire_u32 file)
{
	(void)file;
	return 0;
}

static wire_u32 unwind_lib(wire_u32 file)
{
	return 0;
}

static const struct wire_unwind_file *unwind_file(wire_u32 number)
{
	return NULL;
}

static int unwind_find_mapping(struct unwind *u, wire_u64 pc)
{
	return -1;
}

static void unwind_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx)
{
}

/* Near the stack, mostly on it. */
static uint64_t any_address(struct rng *rng)
{
	return STACK - 32 + rng_below(rng, sizeof(memory) + 64);
}

static struct wire_unwind_rule any_rule(struct rng *rng)
{
	return (struct wire_unwind_rule){
		.cfa = (int32_t)rng_below(rng, 128) - 16,
		.rbp = (int16_t)(rng_below(rng, 5) * 8 - 32),
		.base = (uint8_t)rng_below(rng, WIRE_UNWIND_BASES),
		.rbp_is = (uint8_t)rng_below(rng, WIRE_UNWIND_RBP_WAYS),
	};
}

static enum unwind_stepped step_of_kernel(struct unwind *u)
{
	u->ended = 0;
	if (!unwind_to_caller(u))
		return UNWIND_CALLER;
	switch (u->sample.cut) {
	case WIRE_CUT_NOT:
		return UNWIND_WHOLE;
	case WIRE_CUT_NO_RULE:
		return UNWIND_NO_RULE;
	default:
		return UNWIND_NO_WORD;
	}
}

TEST_CASE(each_rule_is_followed_as_in_the_kernel)
{
	struct rng rng = rng_new();
	uint32_t seen[UNWIND_NO_WORD + 1] = {};

	for (int i = 0; i < ROUNDS; i++) {
		struct unwind_registers r = {
			.pc = rng_below(&rng, 64),
			.sp = any_address(&rng) & ~7ull,
			.bp = any_address(&rng),
			.r11 = any_address(&rng) & ~7ull,
			.bp_lost = !rng_below(&rng, 8),
			.r11_lost = rng_below(&rng, 2),
			.interrupted = rng_below(&rng, 2),
		};
		struct unwind u = {
			.pc = r.pc,
			.sp = r.sp,
			.bp = r.bp,
			.r11 = r.r11,
			.bp_lost = r.bp_lost,
			.interrupted = r.interrupted,
			.sample.n = r.r11_lost ? 2 : 1,
			.rule = any_rule(&rng),
		};
		enum unwind_stepped stepped;

		for (int k = 0; k < WORDS; k++)
			memory[k] = rng_below(&rng, 4) ? any_address(&rng) : 0;
		stepped = unwind_registers__step(&r, u.rule, read_word, NULL);
		assert_int_equal(stepped, step_of_kernel(&u));
		seen[stepped]++;
		if (stepped != UNWIND_CALLER)
			continue;
		assert_int_equal(r.pc, u.pc);
		assert_int_equal(r.sp, u.sp);
		assert_true(r.r11_lost);
		assert_int_equal(r.bp_lost, u.bp_lost);
		assert_int_equal(r.interrupted, u.interrupted);
		if (!r.bp_lost)
			assert_int_equal(r.bp, u.bp);
	}
	for (size_t i = 0; i < N_OF(seen); i++)
		assert_true(seen[i] > ROUNDS / 100);
}

TEST_CASE(a_call_is_looked_up_before_its_return_address)
{
	struct unwind_registers r = {.pc = 0x1000};

	assert_int_equal(unwind_registers__pc(&r), 0xfff);
	r.interrupted = true;
	assert_int_equal(unwind_registers__pc(&r), 0x1000);
}

TEST_MAIN(NULL, NULL)
