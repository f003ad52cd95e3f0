/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The source files and lines of what executions were about: PLACES chunks, read and written. */
#ifndef QPROF_TRACE_PLACE_TABLE_H
#define QPROF_TRACE_PLACE_TABLE_H

#include "base/map.h"
#include "trace/bytes.h"
#include "trace/expansion.h"
#include "trace/trace.h"

/* With `expansion` set, which outlives it, and the rest zero, it is empty. */
struct place_table {
	struct expansion *expansion; /* or NULL */
	struct u64_map place_of; /* process + 1 or, of any process, 0; << 32 | string -> index */
	struct trace_place *places;
	uint32_t n, capacity;
};

/*
 * Take a PLACES payload of a file with so many processes and strings up to here. 0; -ENOMEM;
 * -EBADMSG if it is malformed, or goes beyond a limit; -E2BIG if it expands to too much.
 */
int place_table__take(struct place_table *t, struct byte_reader *in, uint32_t n_processes,
		      uint32_t n_strings);

/*
 * The place of a string of a process, or, with TRACE_NO_PROCESS, of the first process that has one,
 * unless others have it in another file. NULL if there is none; else valid until the next take.
 */
const struct trace_place *place_table__find(const struct place_table *t, uint32_t process,
					    uint32_t string);

void place_table__destroy(struct place_table *t);

/* The writer's side: append a place to a payload. *last is the one before; all zeroes at first. */
void place_table__store(struct byte_buffer *out, const struct trace_place *place,
			struct trace_place *last);

#endif /* QPROF_TRACE_PLACE_TABLE_H */
