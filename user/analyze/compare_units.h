/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Matches the compilers of one build to those of another; `diff` pairs them before it compares. A
 * unit is one compilation that each build has: a crate of one name and type, or one of several such
 * crates (all build scripts are named build_script_build; a crate may be built in two versions, or
 * for the host and for the target).
 */
#ifndef QPROF_ANALYZE_COMPARE_UNITS_H
#define QPROF_ANALYZE_COMPARE_UNITS_H

#include "trace/trace.h"

struct compare_unit {
	char *crate;
	char *type;  /* --crate-type, "test" with --test, or rustc's default "bin" */
	char *title; /* compile_name() */
	char *name;  /* the same; "regex#2" of the second of several units with that title */
	/* These distinguish units of one name and type; set by the first trace with it. */
	char *package; /* of a build script (compile_package()), or "" */
	char *command;
	char *metadata; /* -C metadata: cargo distinguishes crates by it; "" if absent */
	char *source;	/* the source file, relative to the root if that is known; "" if absent */
	char *place;	/* `source` from its package's directory, if outside the workspace */
	char *variant;	/* --target and every --cfg */
	char *extra;	/* the suffix of its output file names, or "" */
};

struct compare_units {
	struct compare_unit **all; /* in the order in which they first appeared */
	uint32_t n;
	uint32_t capacity;
};

/*
 * Match each of the `n` compilers of one trace to a unit; unit_of[i] is an index. A compiler that
 * matches no unit becomes a new one. Crate name and type must be equal, for build scripts also the
 * package, and no other compiler of this trace may have the unit. The signs, in this order: the
 * same command or metadata; the only unit with the same source file; the only one at the same place
 * in its package's directory; the only one there in a compatible version, then in any version; the
 * only one left. If there are several, the only one with the same target and features, or with the
 * same dependencies, is taken. If two compilers could be the unit, neither matches. -ENOMEM.
 */
int compare_units__match(struct compare_units *u, const struct trace_process *const *compilers,
			 uint32_t n, uint32_t *unit_of);

/* Name the units. Call it after the last match. -ENOMEM. */
int compare_units__name(struct compare_units *u);

void compare_units__clear(struct compare_units *u);

#endif /* QPROF_ANALYZE_COMPARE_UNITS_H */
