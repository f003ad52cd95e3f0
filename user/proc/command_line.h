/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the command line of a compiler: its raw arguments, or its arguments joined by spaces, as a
 * trace has them.
 */
#ifndef QPROF_PROC_COMMAND_LINE_H
#define QPROF_PROC_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A piece of a text; none if `at` is NULL. */
struct word {
	const char *at;
	size_t len;
};

bool word__is(struct word word, const char *text);
bool word__contains(struct word word, const char *text);

/* The part after the last slash; all of the word without one. */
struct word word__last_component(struct word path);

/* The path without its last component; an empty word without a slash. */
struct word word__directory(struct word path);

/* The path is that of a toolchain's compiler, by its file name. */
bool word__names_compiler(struct word path);

/* The words that are left to read. */
struct command_line {
	const char *at;
	const char *end;
	char separator;
};

/* Words joined by spaces; NULL has no words. */
struct command_line command_line_joined(const char *text);

/* NUL-separated arguments, which may be empty. The last one may lack its NUL. */
struct command_line command_line_raw(const char *args, size_t size);

/* Take the next word; none at the end. */
struct word command_line__next(struct command_line *rest);

/* Where a word of raw arguments begins that names a file of arguments, "@path"; `size`: none does.
 */
size_t command_line_file_at(const char *args, size_t size);

bool command_line__has(struct command_line line, const char *word);

/* The first value of an option, as "--name value" or "--name=value". */
struct word command_line__value(struct command_line line, const char *option);

/* The first value of a codegen option, as "-C name=value" or "-Cname=value". */
struct word command_line__codegen(struct command_line line, const char *name);

/* The first word that names a file of Rust source. */
struct word command_line__source(struct command_line line);

/*
 * Whether a word may contain a text: one of those that are missing (`truncated`), or of arguments
 * that cannot be read.
 */
bool command_line__may_contain(struct command_line line, const char *text, bool truncated);

#endif /* QPROF_PROC_COMMAND_LINE_H */
