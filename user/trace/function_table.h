/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of a trace, as its reader holds them: where locations lie, and lines. Lines stay as
 * they are stored, and are looked up when somebody asks; long ones get an index then.
 */
#ifndef QPROF_TRACE_FUNCTION_TABLE_H
#define QPROF_TRACE_FUNCTION_TABLE_H

#include "base/cleanup.h"
#include "trace/bytes.h"
#include "trace/interner.h"
#include "trace/string_table.h"
#include "trace/trace.h"

struct function_table;

/* `strings` and `files`, the paths of libraries, must outlive it. */
int function_table__new(struct string_table *strings, const struct string_pairs *files,
			struct function_table **out);

/* Functions in the table; they are numbered from 0. */
uint32_t function_table__n(const struct function_table *t);
/* Of these, those with lines. */
uint32_t function_table__n_with_lines(const struct function_table *t);

/* The number after those of the ranges of the first `n` functions: callers are below it. */
uint32_t function_table__end(const struct function_table *t, uint32_t n);

/*
 * Add the functions of a FUNCTIONS payload of a file with so many strings up to there. 0;
 * -EBADMSG if it is malformed, or goes beyond a limit; -ENOMEM. An error changes nothing.
 */
int function_table__take(struct function_table *t, struct byte_reader *in, uint32_t n_strings);

/* The same of a LINES payload. */
int function_table__take_lines(struct function_table *t, struct byte_reader *in,
			       uint32_t n_strings);

/* True if a locindex lies in a function. */
bool function_table__has(struct function_table *t, uint32_t locindex);

/*
 * Resolve a locindex; false if it lies in no function. out->function is valid until more
 * functions are taken, texts until the string table is freed.
 */
bool function_table__locate(struct function_table *t, uint32_t locindex,
			    struct trace_location *out);

void function_table__free(struct function_table *t);

#endif /* QPROF_TRACE_FUNCTION_TABLE_H */
