/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A compiler's command line as a trace has it: its arguments, joined by spaces. */
#ifndef QPROF_ANALYZE_COMMAND_LINE_H
#define QPROF_ANALYZE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of a text; nothing if `at` is NULL. */
struct word {
	const char *at;
	size_t len;
};

bool word__is(struct word word, const char *text);

/* What follows the last slash; all of it without one. */
struct word word__last_component(struct word path);

/* Take the next word off `*rest`; nothing at its end. */
struct word command_line__next(const char **rest);

/* Of these, `command` may be NULL: then there is no such word. */
bool command_line__has(const char *command, const char *word);

/* The first value of an option, as "--name value" or "--name=value". */
struct word command_line__value(const char *command, const char *option);

/* The first word that names a file of Rust source. */
struct word command_line__source(const char *command);

#endif /* QPROF_ANALYZE_COMMAND_LINE_H */
