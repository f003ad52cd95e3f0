// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/memo.h"

#include <stdlib.h>
#include <string.h>

#include "plan/code/opcode.h"

#define ENTRY_BITS 16
#define HEAD_BITS  16
/* No instruction of x86 has more than 15 bytes. */
#define ROOM 16

/* The bytes of an instruction as load() returns them, padded with zeroes. */
struct key {
	uint64_t low, high;
};

/*
 * The last instruction stored here. Its target does not include its address and the displacement
 * that is left out of the key.
 */
struct entry {
	struct key key;
	struct code_insn insn; /* size 0: none */
};

struct code_memo {
	struct entry entries[1u << ENTRY_BITS];
	/*
	 * By the first bytes of instructions: bit n is set if an instruction of n bytes was stored.
	 */
	uint16_t sizes[1u << HEAD_BITS];
};

struct code_memo *code_memo__new(void)
{
	return calloc(1, sizeof(struct code_memo));
}

void code_memo__free(struct code_memo *m)
{
	free(m);
}

/* Where the displacement is, if such instructions differ only by it; or 0. */
static size_t displacement_at(const uint8_t p[ROOM])
{
	if (opcode_is_call(p))
		return 1;
	if (opcode_is_call_through(p) || (p[0] == OPCODE_TWO_BYTES && (p[1] & 0xf0) == 0x80))
		return 2;
	/* lea x(%rip), of 64 bits */
	if ((p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 0x05)
		return 3;
	return 0;
}

/*
 * Load the first bytes, with zeroes in place of a displacement, which is returned, and of missing
 * bytes.
 */
static uint64_t load(const uint8_t *bytes, size_t len, uint8_t p[ROOM])
{
	uint64_t displacement;
	size_t at;

	if (len < ROOM) {
		memset(p, 0, ROOM);
		memcpy(p, bytes, len);
	} else {
		memcpy(p, bytes, ROOM);
	}
	at = displacement_at(p);
	if (!at)
		return 0;
	displacement = opcode_target(p + at, 0);
	memset(p + at, 0, 4);
	return displacement;
}

static struct key key_of(const uint8_t p[ROOM], size_t size)
{
	struct key key;

	memcpy(&key.low, p, 8);
	memcpy(&key.high, p + 8, 8);
	if (size < 8) {
		key.low &= ((uint64_t)1 << 8 * size) - 1;
		key.high = 0;
	} else {
		key.high &= ((uint64_t)1 << 8 * (size - 8)) - 1;
	}
	return key;
}

static size_t place_of(struct key key)
{
	uint64_t h = key.low * 0x9e3779b97f4a7c15u ^ key.high;

	return (h ^ h >> 32) * 0xd6e8feb86659fd93u >> (64 - ENTRY_BITS);
}

static size_t head_of(const uint8_t p[ROOM])
{
	uint32_t head = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;

	return head * 0x9e3779b1u >> (32 - HEAD_BITS);
}

/* True if the target keeps its distance wherever the instruction is; with a prefix it may not. */
static bool is_relative(const uint8_t p[ROOM])
{
	return displacement_at(p) || opcode_is_short_jump(p);
}

static bool has_target(const struct code_insn *insn)
{
	return insn->flow == CODE_JCC || insn->flow == CODE_JMP || insn->flow == CODE_CALL ||
	       insn->shape == CODE_LEA_RIP || insn->shape == CODE_GO_RIP;
}

size_t code_memo__find(const struct code_memo *m, const uint8_t *bytes, size_t len, uint64_t addr,
		       struct code_insn *out)
{
	uint8_t p[ROOM];
	uint64_t displacement = load(bytes, len, p);

	for (uint32_t sizes = m->sizes[head_of(p)]; sizes; sizes &= sizes - 1) {
		size_t size = (size_t)__builtin_ctz(sizes);
		struct key key = key_of(p, size);
		const struct entry *e = &m->entries[place_of(key)];

		if (e->insn.size != size || size > len || e->key.low != key.low ||
		    e->key.high != key.high)
			continue;
		*out = e->insn;
		out->addr = addr;
		if (has_target(out))
			out->target += addr + displacement;
		return size;
	}
	return 0;
}

void code_memo__add(struct code_memo *m, const uint8_t *bytes, const struct code_insn *insn)
{
	uint8_t p[ROOM];
	uint64_t displacement = load(bytes, insn->size, p);
	struct key key;
	struct entry *e;

	if (!insn->size || insn->size >= ROOM || (has_target(insn) && !is_relative(p)))
		return;
	key = key_of(p, insn->size);
	e = &m->entries[place_of(key)];
	*e = (struct entry){key, *insn};
	if (has_target(insn))
		e->insn.target -= insn->addr + displacement;
	m->sizes[head_of(p)] |= (uint16_t)(1u << insn->size);
}
