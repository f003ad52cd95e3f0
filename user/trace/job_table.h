/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The jobs of a trace: executions of queries that samples met. JOBS chunks hold them. A writer
 * keeps those that wait for their chunk, a reader all.
 */
#ifndef QPROF_TRACE_JOB_TABLE_H
#define QPROF_TRACE_JOB_TABLE_H

#include "base/map.h"
#include "trace/bytes.h"
#include "trace/expansion.h"
#include "trace/trace.h"

/* With `expansion` set, which outlives it, or NULL, and the rest zero, it is empty. */
struct job_table {
	struct expansion *expansion;
	struct trace_job *items; /* that with the number first + i + 1 */
	uint32_t n, capacity;
	uint32_t first; /* jobs that a writer has written */
};

/*
 * For writers: add a job, whose process and query there are; *id is its number. 0; -EINVAL: its
 * parent is none that there is; -E2BIG beyond what a trace may hold; -ENOMEM.
 */
int job_table__add(struct job_table *t, const struct trace_job *job, uint32_t *id);

/* Append those that wait as the payload of a chunk. -ENOMEM. They do not wait any more. */
int job_table__payload(struct job_table *t, struct byte_buffer *out);

/*
 * For readers: take a payload. 0; -ENOMEM; -E2BIG if it expands to too much; -EBADMSG, with a text
 * for a person in `*why`, if it is malformed.
 */
int job_table__take(struct job_table *t, struct byte_reader *in, uint32_t n_processes,
		    uint32_t n_strings, const char **why);

/* The job with a number, or NULL. Valid until the next one is added. */
static inline const struct trace_job *job_table__get(const struct job_table *t, uint32_t id)
{
	return id - t->first - 1 < t->n ? &t->items[id - t->first - 1] : NULL;
}

void job_table__destroy(struct job_table *t);

/*
 * The entries of LLVM of a trace: which pass was running on which function. LLVM chunks hold them.
 * A writer finds those that it has, a reader has them by number.
 */

/* With `expansion` set, which outlives it, or NULL, and the rest zero, it is empty. */
struct llvm_table {
	struct expansion *expansion;
	struct trace_llvm *items; /* that with the number i + 1 */
	uint32_t n, capacity;
	uint32_t written;     /* a writer's: of these */
	struct u64_map known; /* a writer's: from its content to its number */
};

/*
 * For writers: the number of an entry, whose strings are below `n_strings`. 0; -EINVAL: it is
 * malformed; -E2BIG beyond what a trace may hold; -ENOMEM.
 */
int llvm_table__add(struct llvm_table *t, const struct trace_llvm *entry, uint32_t n_strings,
		    uint32_t *id);

/* Append those that were not written as the payload of a chunk. -ENOMEM. They are written then. */
int llvm_table__payload(struct llvm_table *t, struct byte_buffer *out);

/*
 * For readers: take a payload. 0; -ENOMEM; -E2BIG if it expands to too much; -EBADMSG, with a text
 * for a person in `*why`, if it is malformed.
 */
int llvm_table__take(struct llvm_table *t, struct byte_reader *in, uint32_t n_strings,
		     const char **why);

/* The entry with a number, or NULL. Valid until the next one is added. */
static inline const struct trace_llvm *llvm_table__get(const struct llvm_table *t, uint32_t id)
{
	return id - 1 < t->n ? &t->items[id - 1] : NULL;
}

void llvm_table__destroy(struct llvm_table *t);

#endif /* QPROF_TRACE_JOB_TABLE_H */
