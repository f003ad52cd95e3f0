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
	/* "regex"; "regex:test" if crates of that name have several types; "regex:lib#2" for the
	   second of several units with one name and type. */
	char *name;
	/* What tells units of one name and type apart: as the first trace that had it says. */
	char *command;
	char *source; /* the source file in the command */
};

struct compare_units {
	struct compare_unit **all; /* in the order in which they were first met */
	uint32_t n;
	uint32_t capacity;
};

/*
 * Tell which unit each of the `n` compilers of one trace is, in the order of their start;
 * unit_of[i] is an index. One that is none so far becomes one. Of the units with its crate's name
 * and type that no other compiler of this trace is, a compiler is the one with the same command;
 * else with the same source file; else with that of another version (only digits and dots differ);
 * else the next. -ENOMEM.
 */
int compare_units__match(struct compare_units *u, const struct trace_process *const *compilers,
			 uint32_t n, uint32_t *unit_of);

/* Give the units their names, once all are known. -ENOMEM. */
int compare_units__name(struct compare_units *u);

void compare_units__clear(struct compare_units *u);

#endif /* QPROF_ANALYZE_COMPARE_UNITS_H */
