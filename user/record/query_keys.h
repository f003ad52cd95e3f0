/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The messages of a recording about the keys of a library's queries: their types, and why some are
 * unknown.
 */
#ifndef QPROF_RECORD_QUERY_KEYS_H
#define QPROF_RECORD_QUERY_KEYS_H

#include "plan/plan.h"
#include "record/trace_output.h"
#include "decode/decoder.h"

/* Set how the decoder reads the keys and arguments of a library that was set. 0 or -ENOMEM. */
int query_keys__set(struct library *lib, const struct plan *plan);

/* Write the types; `labels` are the string ids of the queries' names. */
void query_keys__write_types(struct trace_output *trace, const struct plan *plan,
			     const uint32_t *labels);

/* Set *why, which the caller frees, if keys of this library have no names, unless it is set. */
void query_keys__note_problem(char **why, const struct plan *plan);

/* At the end: `why` may be NULL, `unnamed` executions had a key that was read and has no name. */
void query_keys__print(const char *why, uint64_t unnamed);

/* At the end: activities whose memory could not be read, or for which the ring was full. */
void query_keys__print_unread(uint64_t n);

#endif /* QPROF_RECORD_QUERY_KEYS_H */
