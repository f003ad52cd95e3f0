/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a compiler keeps which macro an expansion is of: read off ExpnKind::descr, which prints the
 * kind of one, and checked by LocalExpnId::expn_data, which copies an entry of the table that
 * its contexts lead to.
 */
#ifndef QPROF_PLAN_MINE_EXPANSIONS_H
#define QPROF_PLAN_MINE_EXPANSIONS_H

#include "plan/code/eval.h"
#include "plan/mine/owners.h"
#include "plan/symbols/elf_image.h"

/* ---- Tables of expansions and contexts ------------------------------------------------------- */

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

/* ---- Templates of texts ---------------------------------------------------------------------- */

/*
 * The literal text of a call of alloc::fmt::format. Compilers pass it in one of two ways:
 *
 *	1.95	format(out, template, arguments)	"\11#[derive(\300\2)]\0": the length of each
 *							part and the part; \300 is an argument
 *	1.85	format(out, {pieces, n, arguments, ..})	pieces: the address and length of each
 */

#define TEMPLATE_MAX 24

struct template
{
	uint8_t text[TEMPLATE_MAX]; /* all parts, cut */
	size_t len;
	bool is_bare; /* one argument and nothing else */
};

/* False if it is not in the file. */
bool template__of(const struct elf_image *img, const struct eval_call *call, struct template *out);

bool template__holds(const struct template *t, const char *text);

/* How cold sides use an expansion. */
struct expansion_use {
	uint32_t kind; /* within the expansion: what they have described */
	/* The second argument of LocalExpnId::expn_data, by which it finds the globals, if it has
	 * one: the third leads to the expansion's number then. 0: the second is the number. */
	uint64_t key;
};

/*
 * 0 and *problem, which is NULL or a static text that says what is not as expected; *out is then
 * untouched. -ENOMEM, or an error of elf_image__symbols().
 */
int expansions_mine(struct elf_image *img, const struct callees *callees, const struct hygiene *h,
		    const struct expansion_use *use, struct wire_expansions *out,
		    const char **problem);

/* Where their calls are, from both. NULL, or a static text: *out is then untouched. */
const char *expansions_calls(const struct wire_expansions *x, const struct hygiene *h,
			     struct wire_layout_calls *out);

#endif /* QPROF_PLAN_MINE_EXPANSIONS_H */
