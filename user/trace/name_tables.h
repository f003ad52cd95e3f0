/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables to which the items of a trace refer: strings, labels, strings of virtual ids,
 * functions, lines, stacks. A reader that can seek takes the chunks of names ahead, so that a
 * virtual id has its text from the first span on. A chunk that was taken ahead is checked when its
 * turn comes, and not taken again.
 */
#ifndef QPROF_TRACE_NAME_TABLES_H
#define QPROF_TRACE_NAME_TABLES_H

#include "base/map.h"
#include "trace/bytes.h"
#include "trace/chunk_stream.h"
#include "trace/expansion.h"
#include "trace/function_table.h"
#include "trace/id_map.h"
#include "trace/interner.h"
#include "trace/job_table.h"
#include "trace/labels.h"
#include "trace/place_table.h"
#include "trace/stack_table.h"
#include "trace/string_table.h"
#include "trace/trace.h"

/*
 * The symbols of a trace: of which item one of a process is an instance. SYMBOLS chunks list them.
 * A writer keeps those that wait for their chunk (struct pending), a reader all.
 */

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

#define NAME_UNKNOWN "<unknown>"

struct name_tables {
	struct string_table *strings;
	uint32_t n_strings; /* up to the current chunk; the table may hold more */
	struct id_map *mapped;
	struct place_table places;
	struct labels labels;
	struct string_pairs key_types;
	struct string_pairs files; /* paths of libraries, by their build ids */
	struct function_table *functions;
	uint32_t n_functions; /* up to the current chunk; the table may hold more */
	struct stack_table stacks;
	struct job_table jobs;
	struct llvm_table llvm;
	struct symbol_table symbols;
	uint64_t ahead_end; /* the names of chunks before this offset are in the tables already */
	struct expansion *expansion;
};

/* Make empty tables. `expansion` outlives them. 0, or -ENOMEM; destroy them in any case. */
int name_tables__init(struct name_tables *t, struct expansion *expansion);

/*
 * Take the current chunk of `s`, which is of type QPT_STRINGS, _LABELS, _FOREIGN, _MAPPINGS,
 * _FUNCTIONS, _LINES, _PLACES, _KEYS, _FILES, _STACKS, _JOBS, _LLVM or _SYMBOLS. `n_processes` are
 * the processes up to there. 0; -EBADMSG, with a text for a person in `*why`, if it is malformed;
 * -ENOMEM; -E2BIG if it expands to too much.
 */
int name_tables__take(struct name_tables *t, struct chunk_stream *s, uint32_t n_processes,
		      const char **why);

/*
 * Take the current chunk of `s`, another stream of the same file, ahead. Only names that may follow
 * their first use are taken. Errors as above.
 */
int name_tables__take_ahead(struct name_tables *t, struct chunk_stream *s);

/* The text of a string id or a virtual label, or NAME_UNKNOWN. Valid until the tables are gone. */
const char *name_tables__text(const struct name_tables *t, uint32_t id);

/*
 * The text of a string for a record that repeats it; it counts for the expansion. 0, -ENOENT,
 * -ENOMEM, or -E2BIG if it expands to too much.
 */
int name_tables__repeat_text(struct name_tables *t, uint32_t id, const char **text);

/* The string that an invocation id of a process was mapped to, or ID_MAP_NONE. */
static inline uint32_t name_tables__event(const struct name_tables *t,
					  const struct trace_span *span)
{
	return id_map__get(t->mapped, span->process + 1, span->invocation);
}

/* Whether any invocation id of the process was mapped. */
static inline bool name_tables__has_events(const struct name_tables *t, uint32_t process)
{
	return id_map__has(t->mapped, process + 1);
}

void name_tables__destroy(struct name_tables *t);

#endif /* QPROF_TRACE_NAME_TABLES_H */
