/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which compiler of one build is which of another: what `diff` pairs before it compares. A unit is
 * one compilation that each build has: a crate of one name and type, or one of several of them
 * (build scripts are all named build_script_build; a crate may be there in two versions, or for the
 * host and for the target).
 */
#ifndef QPROF_ANALYZE_COMPARE_UNITS_H
#define QPROF_ANALYZE_COMPARE_UNITS_H

#include "trace/trace.h"

struct compare_unit {
	char *crate;
	char *type; /* --crate-type, "test" with --test, or rustc's default "bin" */
	/* "regex"; "regex:test" if crates of that name have several types; "syn build script";
	   "regex:lib#2" for the second of several units with one name and type. */
	char *name;
	/* What tells units of one name and type apart: as the first trace that had it says. */
	char *package; /* of a build script (compile_package()), or "" */
	char *command;
	char *metadata; /* what cargo tells crates of one name apart by; "" without */
	char *source;	/* the source file, from the root where that is known; "" without one */
	char *place;	/* the same, from the directory of its package if it is another's */
	char *variant;	/* --target and every --cfg */
	char *extra;	/* what the names of the files that it makes end with, or "" */
};

struct compare_units {
	struct compare_unit **all; /* in the order in which they were first met */
	uint32_t n;
	uint32_t capacity;
};

/*
 * Tell which unit each of the `n` compilers of one trace is; unit_of[i] is an index. One that is
 * none so far becomes one. A compiler is a unit with its crate's name and type, and of the same
 * package if it is a build script, that no other compiler of this trace is: one with the same
 * command or metadata; else the only one with the same source file; at the same place in its
 * package's directory; there in a version that is compatible, in any version; or the only one that
 * is left at all. Of several, the only one for the same target with the same features, or that
 * depends on the same units. Where two could be it, neither is. -ENOMEM.
 */
int compare_units__match(struct compare_units *u, const struct trace_process *const *compilers,
			 uint32_t n, uint32_t *unit_of);

/* Give the units their names, once all are known. -ENOMEM. */
int compare_units__name(struct compare_units *u);

void compare_units__clear(struct compare_units *u);

#endif /* QPROF_ANALYZE_COMPARE_UNITS_H */
