/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of the code that requests queries: the functions of each library that a capture
 * attached to and, at its end, the lines of the functions that occurred.
 */
#ifndef QPROF_RECORD_CODE_NAMES_H
#define QPROF_RECORD_CODE_NAMES_H

#include "base/cleanup.h"
#include "plan/plan.h"
#include "trace/writer.h"
#include "tracks/tracks.h"

struct code_names;

/* 0, or -ENOMEM. */
int code_names__new(struct code_names **out);

/*
 * Read the functions of the library that was attached to as `lib`. *functions is for
 * tracks__set_functions(). Prints one line on failure.
 */
int code_names__add_library(struct code_names *c, uint8_t lib, const struct plan *plan,
			    const struct tracks_functions **functions);

/* A function occurred: its lines are wanted at the end. 0 or -ENOMEM. */
int code_names__note(struct code_names *c, uint8_t lib, const struct trace_function *f);

/*
 * The number `lib` goes to another library, or to none: write the lines of the earlier
 * one as code_names__write_lines() does, and forget it. `w` may be NULL.
 */
int code_names__retire(struct code_names *c, uint8_t lib, struct trace_writer *w);

/*
 * Write the lines of all functions that were noted, where their library has line tables.
 * Damaged ones cost a warning. Returns the writer's error, or -ENOMEM.
 */
int code_names__write_lines(struct code_names *c, struct trace_writer *w);

void code_names__free(struct code_names *c);
DEFINE_CLEANUP(struct code_names, code_names__free)
#define _code_names_ __cleanup(code_names__free_p)

#endif /* QPROF_RECORD_CODE_NAMES_H */
