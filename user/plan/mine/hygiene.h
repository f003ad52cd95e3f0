/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a compiler keeps its expansions of macros and the contexts of spans: read off two functions
 * that all libraries export. rustc_span::hygiene::walk_chain takes a span, and while that is of
 * another context, goes on with the span of the call of its context's expansion:
 *
 *	mov  CONTEXTS(%r13), %rax	%r13: the session's globals
 *	mov  (%rax,%rcx,1), %esi	the crate of the context's expansion, and its number
 *	mov  4(%rax,%rcx,1), %edx
 *	lea  SELF(%r13), %rdi		the HygieneData in the globals
 *	call HygieneData::expn_data	SELF + TABLE: the expansions of the crate
 *	mov  CALL(%rax), %rdi		the span of the expansion's call
 *
 * Distributions inline less: it calls ScopedKey::with, and that a method of HygieneData.
 */
#ifndef QPROF_PLAN_MINE_HYGIENE_H
#define QPROF_PLAN_MINE_HYGIENE_H

#include "plan/mine/callees.h"

/* Offsets are as those of wire_layout_calls. */
struct hygiene {
	uint64_t globals; /* that of wire_layout */
	uint32_t self;	  /* within the globals: the HygieneData */
	uint32_t expansions;
	uint32_t n_expansions;
	uint32_t expansion_size; /* 0: nothing is known */
	uint32_t call;
	uint32_t contexts;
	uint32_t n_contexts;
	uint32_t context_size;
	uint32_t crate;
	uint32_t number;
};

/*
 * `globals` is that of wire_layout. 0 and *problem, which is NULL or a static text that says what
 * is not as expected; *out is then untouched. -ENOMEM, or an error of elf_image__symbols().
 */
int hygiene__find(struct elf_image *img, const struct callees *callees, uint64_t globals,
		  struct hygiene *out, const char **problem);

/* `a` is *more plus the globals. */
bool hygiene__is_globals(const struct eval *e, const struct sum *a, uint64_t globals,
			 uint64_t *more);

#endif /* QPROF_PLAN_MINE_HYGIENE_H */
