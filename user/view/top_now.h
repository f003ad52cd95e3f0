/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The queries that running compilers are in, for the live view of the recording and the interactive
 * one. */
#ifndef QPROF_VIEW_TOP_NOW_H
#define QPROF_VIEW_TOP_NOW_H

#include <stdint.h>

#define TOP_NOW_MAX 32 /* compilers */

/* Of one compiler. Texts end with NUL. */
struct top_now {
	uint32_t pid;
	char name[64]; /* of the query or activity */
	/* The path of its item, or the argument of an activity, or the end of that; empty: not
	 * known */
	char item[176];
	/* Without probes: the function that its samples were in most, in LLVM the one that this
	 * compiles; or empty. */
	char function[80];
};

/* `n` of them are valid. All zeroes is empty. */
struct top_nows {
	uint32_t n;
	struct top_now at[TOP_NOW_MAX];
};

#endif /* QPROF_VIEW_TOP_NOW_H */
