/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the definition is in a key, in older compilers (1.85): QueryKey::default_span of each type
 * of key passes the definition on, in two registers, to a function that looks its span up. That
 * function is not exported, and first compares the crate with 0, that of the compiled one.
 *
 *	(DefId, DefId)		mov  0x8(%rdi), %ecx		the index
 *				mov  0xc(%rdi), %r8d		the crate
 *				...
 *				jmp  LOOKUP			test %r8d, %r8d
 *	LocalDefId		mov  (%rdi), %ecx
 *				xor  %r8d, %r8d
 *	InstanceKind		movzbl (%rdi), %edx		both depend on the variant, which
 *				...				one byte says
 */
#ifndef QPROF_PLAN_MINE_PASSED_KEYS_H
#define QPROF_PLAN_MINE_PASSED_KEYS_H

#include "plan/code/decode.h"
#include "qprof/wire.h"

/* How definitions are passed on. */
struct passed_keys {
	const struct elf_image *img;
	struct code_decoder *decoder;
	uint8_t index, crate; /* enum wire_reg: the registers; the same: not known */
};

/* Learn it from the default_span of DefId, at `f`. 0, also if that does not show it, or -ENOMEM. */
int passed_keys__learn(struct passed_keys *p, const struct code_region *f);

static inline bool passed_keys__known(const struct passed_keys *p)
{
	return p->index != p->crate;
}

/* Where the definition is in the key whose default_span is at `f`. 1: there, 0: not shown. -ENOMEM.
 */
int passed_keys__find(const struct passed_keys *p, const struct code_region *f,
		      struct wire_memory_key *out);

#endif /* QPROF_PLAN_MINE_PASSED_KEYS_H */
