/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the operands of a probe hit, in the registers and memory that its site names. */
#ifndef QPROF_BPF_OPERANDS_H
#define QPROF_BPF_OPERANDS_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "maps.h"
#include "qprof/wire.h"

/*
 * The verifier lets a context be read at constant offsets only, and the compiler likes to turn a
 * switch over fields into one load at a computed offset. Assembly keeps them apart.
 */
#define OPERAND_FIELD(ctx, field)                                                         \
	({                                                                                \
		__u64 __v;                                                                \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                     \
			     : "=r"(__v)                                                  \
			     : "r"(ctx), "i"(__builtin_offsetof(struct pt_regs, field))); \
		__v;                                                                      \
	})

static __always_inline __u64 operand_reg(struct pt_regs *ctx, __u32 reg)
{
	switch (reg) {
	case WIRE_REG_AX:
		return OPERAND_FIELD(ctx, ax);
	case WIRE_REG_BX:
		return OPERAND_FIELD(ctx, bx);
	case WIRE_REG_CX:
		return OPERAND_FIELD(ctx, cx);
	case WIRE_REG_DX:
		return OPERAND_FIELD(ctx, dx);
	case WIRE_REG_SI:
		return OPERAND_FIELD(ctx, si);
	case WIRE_REG_DI:
		return OPERAND_FIELD(ctx, di);
	case WIRE_REG_BP:
		return OPERAND_FIELD(ctx, bp);
	case WIRE_REG_R8:
		return OPERAND_FIELD(ctx, r8);
	case WIRE_REG_R9:
		return OPERAND_FIELD(ctx, r9);
	case WIRE_REG_R10:
		return OPERAND_FIELD(ctx, r10);
	case WIRE_REG_R11:
		return OPERAND_FIELD(ctx, r11);
	case WIRE_REG_R12:
		return OPERAND_FIELD(ctx, r12);
	case WIRE_REG_R13:
		return OPERAND_FIELD(ctx, r13);
	case WIRE_REG_R14:
		return OPERAND_FIELD(ctx, r14);
	case WIRE_REG_R15:
		return OPERAND_FIELD(ctx, r15);
	}
	return 0;
}

/* The invocation id at an end or a hit. */
static __always_inline __u32 operand_invocation(struct pt_regs *ctx, const struct wire_site *site)
{
	__u32 id = WIRE_NO_INVOCATION;
	__u64 at;

	if (site->reg != WIRE_REG_NONE)
		return (__u32)operand_reg(ctx, site->reg);
	at = site->base == WIRE_REG_NONE ? PT_REGS_SP(ctx) : operand_reg(ctx, site->base);
	if (site->slot == WIRE_NO_SLOT ||
	    bpf_probe_read_user(&id, sizeof(id), (void *)(at + site->slot)))
		return WIRE_NO_INVOCATION;
	return id;
}

/* A key of this type, as wire_key(); 0 if it is none. */
static __always_inline __u64 operand_make_key(__u32 key, __u32 at, __u32 krate)
{
	switch (key) {
	case WIRE_KEY_LOCAL:
		return wire_key(WIRE_KEY_LOCAL_CRATE, at);
	case WIRE_KEY_DEF:
		return krate == WIRE_NO_CRATE ? 0 : wire_key(krate, at);
	case WIRE_KEY_CRATE:
		return at == WIRE_NO_CRATE ? 0 : wire_key(at, 0);
	}
	return 0;
}

/* The definition in the words of a key that are at m->offset; 0 if there is none. */
static __always_inline __u64 operand_key_of_words(const struct wire_memory_key *m,
						  const __u32 words[WIRE_MEMORY_WORDS])
{
	__u32 variant, word;

	variant = (m->narrow ? words[0] & 0xff : words[0]) - m->first;
	word = m->other;
	if (variant < WIRE_VARIANTS) {
		/* The bound must be known of the register that the address is made of. */
		asm volatile("%0 &= 31" : "+r"(variant));
		word = m->words[variant];
	}
	/* At constant places, as no register can index the stack in old kernels. */
	switch (word) {
	case 0:
		return operand_make_key(WIRE_KEY_DEF, words[0], words[1]);
	case 1:
		return operand_make_key(WIRE_KEY_DEF, words[1], words[2]);
	case 2:
		return operand_make_key(WIRE_KEY_DEF, words[2], words[3]);
	case 3:
		return operand_make_key(WIRE_KEY_DEF, words[3], words[4]);
	case 4:
		return operand_make_key(WIRE_KEY_DEF, words[4], words[5]);
	case WIRE_LOCAL_WORD:
		return operand_make_key(WIRE_KEY_LOCAL, words[0], 0);
	case WIRE_CRATE_WORD:
		return operand_make_key(WIRE_KEY_CRATE, words[0], 0);
	}
	return 0;
}

/*
 * The definition in the key at `address`, of the query that `id` is (wire_lib_key()); 0 if it
 * cannot be read.
 */
static __noinline __u64 operand_key_in_memory(__u64 address, __u32 id)
{
	const struct wire_memory_key *m = bpf_map_lookup_elem(&memory_keys, &id);
	__u32 words[WIRE_MEMORY_WORDS] = {};

	if (!m || bpf_probe_read_user(words, sizeof(words), (void *)(address + m->offset)))
		return 0;
	return operand_key_of_words(m, words);
}

/* The key of type `key` that lies `slot` * 4 bytes above sp; 0 if it cannot be read. */
static __always_inline __u64 operand_key_on_stack(struct pt_regs *ctx,
						  const struct wire_key_place *place, __u32 id)
{
	__u32 at[2] = {};

	if (bpf_probe_read_user(at, sizeof(at), (void *)(PT_REGS_SP(ctx) + 4 * place->slot)))
		return 0;
	if (place->key == WIRE_KEY_MEMORY)
		return operand_key_in_memory((__u64)at[1] << 32 | at[0], id);
	return operand_make_key(place->key, at[0], at[1]);
}

/*
 * The key at a place, as wire_key(); 0 if it is not read. A crate is in the register of the
 * argument behind that of the index. `id` is the query's wire_lib_key().
 */
static __always_inline __u64 operand_key(struct pt_regs *ctx, const struct wire_key_place *place,
					 __u32 id)
{
	__u32 krate;
	__u64 at;

	switch (place->reg) {
	case WIRE_REG_NONE:
		return operand_key_on_stack(ctx, place, id);
	case WIRE_REG_SI:
		at = OPERAND_FIELD(ctx, si);
		krate = OPERAND_FIELD(ctx, dx);
		break;
	case WIRE_REG_DX:
		at = OPERAND_FIELD(ctx, dx);
		krate = OPERAND_FIELD(ctx, cx);
		break;
	case WIRE_REG_CX:
		at = OPERAND_FIELD(ctx, cx);
		krate = OPERAND_FIELD(ctx, r8);
		break;
	case WIRE_REG_R8:
		at = OPERAND_FIELD(ctx, r8);
		krate = OPERAND_FIELD(ctx, r9);
		break;
	default:
		/* Only at sites in a body, where a DefId is on the stack. */
		at = operand_reg(ctx, place->reg);
		krate = WIRE_NO_CRATE;
	}
	if (place->key == WIRE_KEY_MEMORY)
		return operand_key_in_memory(at, id);
	return operand_make_key(place->key, at, krate);
}

#endif /* QPROF_BPF_OPERANDS_H */
