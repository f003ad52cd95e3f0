/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of the code that queries are requested from: the functions of each library a capture
 * attached to, and at its end the lines of those that came up.
 */
#ifndef QPROF_CLI_CODE_NAMES_H
#define QPROF_CLI_CODE_NAMES_H

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

/* A function came up: its lines are wanted at the end. 0 or -ENOMEM. */
int code_names__note(struct code_names *c, uint8_t lib, const struct trace_function *f);

/*
 * Tell the writer the lines of all functions that were noted, where their library has line tables.
 * Damaged ones cost a warning. Returns the writer's error, or -ENOMEM.
 */
int code_names__write_lines(struct code_names *c, struct trace_writer *w);

void code_names__free(struct code_names *c);
DEFINE_CLEANUP(struct code_names, code_names__free)
#define _code_names_ __cleanup(code_names__free_p)

#endif /* QPROF_CLI_CODE_NAMES_H */
