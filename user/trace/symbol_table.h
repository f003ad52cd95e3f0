/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The symbols of a trace: of which item one of a process is an instance. SYMBOLS chunks list them.
 * A writer keeps those that wait for their chunk (struct pending), a reader all.
 */
#ifndef QPROF_TRACE_SYMBOL_TABLE_H
#define QPROF_TRACE_SYMBOL_TABLE_H

#include "base/map.h"
#include "trace/bytes.h"
#include "trace/expansion.h"
#include "trace/trace.h"

/* With `expansion` set, which outlives it, or NULL, and the rest zero, it is empty. */
struct symbol_table {
	struct expansion *expansion;
	struct u64_map items; /* by process << 32 | symbol */
	uint64_t n;	      /* that were read */
};

/* For writers: append a symbol to a chunk. */
void symbol_table__store(const struct trace_symbol *s, struct byte_buffer *out);

/*
 * For readers: take a payload. 0; -ENOMEM; -E2BIG if it expands to too much; -EBADMSG, with a text
 * for a person in `*why`, if it is malformed.
 */
int symbol_table__take(struct symbol_table *t, struct byte_reader *in, uint32_t n_processes,
		       uint32_t n_strings, const char **why);

/* The string id of the item, or TRACE_NO_STRING. */
uint32_t symbol_table__item(const struct symbol_table *t, uint32_t process, uint32_t symbol);

void symbol_table__destroy(struct symbol_table *t);

#endif /* QPROF_TRACE_SYMBOL_TABLE_H */
