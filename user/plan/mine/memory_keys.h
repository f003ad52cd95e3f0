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
 * The part of a PseudoCanonicalInput that is asked is its value, which its Debug::fmt finds.
 */
#ifndef QPROF_PLAN_MINE_MEMORY_KEYS_H
#define QPROF_PLAN_MINE_MEMORY_KEYS_H

#include "plan/code/decode.h"
#include "qprof/wire.h"

struct memory_keys;

/* Collect the functions. 0, -ENOMEM, or an error of elf_image__symbols(). */
int memory_keys__new(struct elf_image *img, struct code_decoder *decoder, struct memory_keys **out);

/*
 * Where the definition is in a key of this type (struct key_name), into *out. 1: there; 0: the type
 * has no such functions, or they do not show it. -ENOMEM.
 */
int memory_keys__find(struct memory_keys *m, const char *type, struct wire_memory_key *out);

/* Why no key in memory is found; NULL: some are. A static text. */
const char *memory_keys__problem(const struct memory_keys *m);

void memory_keys__free(struct memory_keys *m);
DEFINE_CLEANUP(struct memory_keys, memory_keys__free)
#define _memory_keys_ __cleanup(memory_keys__free_p)

#endif /* QPROF_PLAN_MINE_MEMORY_KEYS_H */
