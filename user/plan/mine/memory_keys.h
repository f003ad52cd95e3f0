/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the definition is in keys that are passed by their address: an Instance, a GlobalId, a pair
 * of a definition and something else. Found in the code by which the compiler itself asks a key for
 * its place in the source, rustc's QueryKey::default_span:
 *
 *	DefId		compares the crate, and looks the span of the definition up
 *	InstanceKind	takes index and crate from words that depend on its variant, then the same
 *	others		jump to one of the two, with the address of a part of themselves,
 *			or make a DefId of a word and crate 0, the one that is compiled
 *
 *	(DefId, DefId)	add $0x8, %rdi
 *			jmp <DefId as QueryKey>::default_span
 *
 * or have one of the two inlined.
 *
 * The part of a PseudoCanonicalInput that is asked is its value, its last field (last_field.h).
 */
#ifndef QPROF_PLAN_MINE_MEMORY_KEYS_H
#define QPROF_PLAN_MINE_MEMORY_KEYS_H

#include "plan/code/decode.h"
#include "plan/code/eval.h"
#include "qprof/wire.h"

struct memory_keys;

/* Collect the functions. 0, -ENOMEM, or an error of elf_image__symbols(). */
int memory_keys__new(struct elf_image *img, struct code_decoder *decoder, struct memory_keys **out);

/*
 * Where the definition is in a key of this type (struct key_name), into *out. 1: there; 0: the type
 * has no such functions, or they do not show it. -ENOMEM, or an error of elf_image__symbols().
 */
int memory_keys__find(struct memory_keys *m, const char *type, struct wire_memory_key *out);

/* Code that is given an address in rdi asks this function about what is `offset` bytes further. */
struct memory_asked {
	uint64_t function; /* default_span of some type, or that of a DefId of a word and crate 0 */
	uint64_t offset;
	bool local; /* the latter */
};

/*
 * The function that the code asks, of which `e` is a run. 1: there is one. 0: none, as the code
 * reads nothing but what it was given. -EINVAL: several, or unknown, as one may have been inlined.
 */
int memory_keys__asked(const struct memory_keys *m, const struct eval *e, struct memory_asked *out);

/*
 * Whether the function of keys of this type asks the same of them, or is what was asked: 1, and
 * *offset, where in a key; 0: it does not; -ENOENT: there is no such function. -ENOMEM, or an error
 * of elf_image__symbols().
 */
int memory_keys__asks(struct memory_keys *m, const char *type, const struct memory_asked *asked,
		      uint64_t *offset);

/* Why no key in memory is found; NULL: some are. A static text. */
const char *memory_keys__problem(const struct memory_keys *m);

void memory_keys__free(struct memory_keys *m);
DEFINE_CLEANUP(struct memory_keys, memory_keys__free)
#define _memory_keys_ __cleanup(memory_keys__free_p)

/* ---- Keys that are passed on ----------------------------------------------------------------- */

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

#endif /* QPROF_PLAN_MINE_MEMORY_KEYS_H */
