/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the last field of a struct is, by the function that its derived Debug::fmt is. That passes
 * the name of the struct as a text, and the address of the address of the last field alone:
 *
 *	lea	0x18(%rdi), %rcx
 *	mov	%rcx, (%rsp)
 *	lea	<the name>(%rip), %rsi
 *	mov	$<its length>, %edx
 */
#ifndef QPROF_PLAN_MINE_LAST_FIELD_H
#define QPROF_PLAN_MINE_LAST_FIELD_H

#include "plan/code/decode.h"

/* Above all offsets of fields. */
#define LAST_FIELD_MAX 1024

/* The offset that the function at `entry` shows; false if it shows none. */
bool last_field__find(struct code_decoder *decoder, uint64_t entry, uint64_t *offset);

/*
 * The offset in a generic struct of this name, from all functions that print one, whatever they
 * are called. 1 and *offset: two or more show one, and all of these the same; 0; -ENOMEM,
 * or an error of elf_image__symbols().
 */
int last_field__of_generic(struct elf_image *img, struct code_decoder *decoder, const char *name,
			   uint64_t *offset);

#endif /* QPROF_PLAN_MINE_LAST_FIELD_H */
