/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a place in code to its unwind rule, in the tables of include/qprof/wire_unwind.h.
 *
 * Pure logic, compiled twice: into the BPF programs, and natively into tests and benchmarks. Both
 * define unwind_block().
 *
 * Every offset is masked to its block, so that a damaged area gives a wrong rule at most. Counting
 * has no branches in its rounds, as the verifier follows each branch of each round.
 */
#ifndef QPROF_UNWIND_LOOKUP_H
#define QPROF_UNWIND_LOOKUP_H

#include "qprof/wire_unwind.h"

/* A block's WIRE_UNWIND_BLOCK_VALUE bytes; NULL if the area has no such block. */
static const wire_u8 *unwind_block(wire_u32 number);

/* As STACK_APART in stack.h. Such a function has a frame of its own, of 48 bytes at most. */
#ifdef __bpf__
#define UNWIND_APART __attribute__((noinline))
#else
#define UNWIND_APART static inline
#endif

/*
 * Keeps the compiler from dropping a bound that it knows of, and the verifier does not, and from
 * making a branch.
 */
#define UNWIND_KEEP(value) __asm__ volatile("" : "+r"(value))

#define UNWIND_LOW_BITS 0x0101010101010101ull

/* The 8 bytes at an offset in a block. */
static inline wire_u64 unwind_word(const wire_u8 *block, wire_u32 at)
{
	const wire_u8 *p = block + (at & (WIRE_UNWIND_BLOCK_BYTES - 1));
#ifdef __bpf__
	/* The kernel loads unaligned words on the machines that this is for. */
	return *(const wire_u64 *)p;
#else
	wire_u64 word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
#endif
}

/* The lowest `n` bits; n is below 64. */
static inline wire_u64 unwind_low(wire_u64 word, wire_u32 n)
{
	return word & ((1ull << (n & 63)) - 1);
}

/* The first `n` of 32 fields of 2 bits, all of them if n is larger; n is not 0. */
static inline wire_u64 unwind_first_fields(wire_u64 fields, wire_u32 n)
{
	wire_u64 over = (wire_u64)n - 32, is_less = over >> 63;

	UNWIND_KEEP(is_less);
	return fields & (~0ull >> (is_less * (0 - 2 * over) & 63));
}

/* The sum of the bytes that 32 fields of 2 bits stand for: 0, 1, 2 or 4 each. */
static inline wire_u32 unwind_sum_lengths(wire_u64 fields)
{
	const wire_u64 twos = 0x3333333333333333ull;
	wire_u64 four = fields & (fields >> 1) & 0x5555555555555555ull; /* one more for each 3 */
	wire_u64 sums = (fields & twos) + (fields >> 2 & twos) + (four & twos) + (four >> 2 & twos);

	sums = (sums & 0x0f0f0f0f0f0f0f0full) + (sums >> 4 & 0x0f0f0f0f0f0f0f0full);
	return (wire_u32)((sums * UNWIND_LOW_BITS) >> 56);
}

/* How many of the n pcs from `at` on in the area, in rising order, are at most `pc`. */
UNWIND_APART wire_u32 unwind_count_pcs(wire_u32 at, wire_u32 n, wire_u32 pc)
{
	const wire_u8 *block = unwind_block(at >> WIRE_UNWIND_BLOCK_SHIFT);
	wire_u64 count = 0;

	if (!block)
		return 0;
	for (wire_u64 step = 128; step; step /= 2) {
		wire_u64 next = count + step, is_above;

		UNWIND_KEEP(next);
		/* The last of them is above `pc`, or is none of the n. */
		is_above = (pc - (unwind_word(block, at + (wire_u32)next - 1) & 0xff)) >> 63 |
			   (n - next) >> 63;
		UNWIND_KEEP(is_above);
		count = next - step * is_above;
	}
	return (wire_u32)count;
}

/* The bytes of the first n values whose fields begin at `at` in the area. */
UNWIND_APART wire_u32 unwind_skip_values(wire_u32 at, wire_u32 n)
{
	const wire_u8 *block = unwind_block(at >> WIRE_UNWIND_BLOCK_SHIFT);
	wire_u32 sum = 0;

	if (!block)
		return 0;
	for (wire_u32 i = 0; i < 256; i += 32) {
		wire_u64 fields;

		if (i >= n)
			break;
		fields = unwind_word(block, at + i / 4);
		sum += unwind_sum_lengths(unwind_first_fields(fields, n - i));
	}
	return sum;
}

/* The value at `at`, of this field, its sign extended; 0 for field 0, which no table has. */
static inline wire_s32 unwind_value(const wire_u8 *block, wire_u32 at, wire_u32 field)
{
	wire_u32 word = (wire_u32)unwind_word(block, at);

	if (field == 1)
		return (signed char)word;
	if (field == 2)
		return (wire_s16)word;
	return field ? (wire_s32)word : 0;
}

/* The value at `pc`, 0 to 255, of the chunk at `at` in the area, which is in this block. */
static inline wire_u32 unwind_chunk_value(const wire_u8 *block, wire_u32 at, wire_u32 pc)
{
	wire_u32 n = (wire_u32)unwind_word(block, at) & 0xff;
	wire_u32 lengths = at + 1 + n, values = lengths + n / 4 + 1;
	wire_u32 first = (wire_u32)unwind_word(block, lengths) & 3, count, field;
	wire_u32 bias = (wire_u32)unwind_value(block, values, first);

	if (!n)
		return bias;
	count = unwind_count_pcs(at + 1, n, pc);
	if (!count)
		return bias;
	field = (wire_u32)(unwind_word(block, lengths + count / 4) >> 2 * (count & 3)) & 3;
	at = values + unwind_skip_values(lengths, count);
	return bias + (wire_u32)unwind_value(block, at, field);
}

/* Where chunk `chunk` of the table at `at` begins. */
static inline wire_u32 unwind_find_chunk(const wire_u8 *block, wire_u32 at, wire_u32 chunk)
{
	wire_u32 mark = (wire_u32)unwind_word(block, at) & 0xff, shift = 0, entry;

	if (mark >= 0xfe) {
		shift = mark - 0xfd; /* entries of 2 bytes, or of 4 */
		at++;
	}
	entry = chunk ? (wire_u32)unwind_word(block, at + ((chunk - 1) << shift)) : 0;
	if (shift < 2)
		entry = (wire_u32)unwind_low(entry, 8u << shift);
	return at + ((WIRE_UNWIND_CHUNKS - 1) << shift) + entry;
}

/* The number of the rule at `offset` of the page whose table is at `table`. */
static inline wire_u32 unwind_page_value(wire_u32 table, wire_u32 offset)
{
	const wire_u8 *block = unwind_block(table >> WIRE_UNWIND_BLOCK_SHIFT);

	if (!block)
		return 0;
	return unwind_chunk_value(block, unwind_find_chunk(block, table, offset >> 8 & 0xff),
				  offset & 0xff);
}

/* The table of the page that holds `addr`, or WIRE_UNWIND_NOWHERE. */
static inline wire_u32 unwind_page_table(const struct wire_unwind_file *f, wire_u64 addr)
{
	wire_u64 page = (addr - f->start) >> WIRE_UNWIND_PAGE_SHIFT;
	const wire_u8 *block;

	if (addr < f->start || page >= f->pages)
		return WIRE_UNWIND_NOWHERE;
	block = unwind_block(f->directory >> WIRE_UNWIND_BLOCK_SHIFT);
	return block ? (wire_u32)unwind_word(block, f->directory + 4 * (wire_u32)page)
		     : WIRE_UNWIND_NOWHERE;
}

/* Set *rule to the one with this number; nonzero: the file has none. */
static inline int unwind_rule_at(const struct wire_unwind_file *f, wire_u32 number,
				 struct wire_unwind_rule *rule)
{
	const wire_u8 *block = unwind_block(f->rules >> WIRE_UNWIND_BLOCK_SHIFT);
	union {
		wire_u64 word;
		struct wire_unwind_rule rule;
	} r;

	if (!block || number >= f->n_rules)
		return 1;
	r.word = unwind_word(block, f->rules + 8 * number);
	*rule = r.rule;
	return 0;
}

/*
 * The rule at an ELF virtual address of the file; its base is WIRE_UNWIND_NONE if there is none. A
 * return address is looked up less 1: the next instruction may belong to another function.
 */
static inline struct wire_unwind_rule unwind_lookup(const struct wire_unwind_file *f, wire_u64 addr)
{
	wire_u32 table = unwind_page_table(f, addr), number;
	struct wire_unwind_rule rule = {0};

	if (table == WIRE_UNWIND_NOWHERE)
		return rule;
	number = unwind_page_value(table, (wire_u32)addr & (WIRE_UNWIND_PAGE_BYTES - 1));
	unwind_rule_at(f, number, &rule);
	return rule;
}

#endif /* QPROF_UNWIND_LOOKUP_H */
