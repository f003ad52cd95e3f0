/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes a trace. Bounded memory; after an error every later call returns the same error, and the
 * file keeps its "unfinished" mark.
 */
#ifndef QPROF_TRACE_WRITER_H
#define QPROF_TRACE_WRITER_H

#include "trace/trace.h"

struct trace_writer;

/*
 * Create `path` and write the header, marked unfinished. Never overwrites: -EEXIST. "-" is not
 * special. `info` is copied. Returns a negative errno without printing, and leaves no file then.
 */
int trace_writer__open(const char *path, const struct trace_info *info, struct trace_writer **out);

/* The id of a text, the same for the same text; -ENOMEM or an I/O error. */
int trace_writer__intern(struct trace_writer *w, const char *text, uint32_t *id);

/*
 * Add or update (same p->index) a process. Indices are the caller's, dense from 0. May be called
 * again when it exits; the last one wins.
 */
int trace_writer__process(struct trace_writer *w, const struct trace_process *p);

/*
 * The number of a kind for spans and tallies, by measureme's name: one of enum trace_kind, or one
 * of this file's own. -E2BIG beyond TRACE_KINDS_MAX.
 */
int trace_writer__kind(struct trace_writer *w, const char *text, uint8_t *kind);

/* Add a span. Its process, label and kind must have been added before. */
int trace_writer__span(struct trace_writer *w, const struct trace_span *s);

/* Add a tally, once per process, label and kind; those must have been added before. */
int trace_writer__tally(struct trace_writer *w, const struct trace_tally *t);

/* Losses so far (not since the last call). Written at the end and now and then before. */
int trace_writer__losses(struct trace_writer *w, const struct trace_losses *losses);

/* Give what is buffered to the kernel, so that a reader sees it if we are killed now. */
int trace_writer__flush(struct trace_writer *w);

/* Flush, clear the unfinished mark, sync, close. The writer must still be freed. */
int trace_writer__finish(struct trace_writer *w);

/* Bytes written so far. */
uint64_t trace_writer__bytes(const struct trace_writer *w);

void trace_writer__free(struct trace_writer *w);
DEFINE_CLEANUP(struct trace_writer, trace_writer__free)
#define _trace_writer_ __cleanup(trace_writer__free_p)

#endif /* QPROF_TRACE_WRITER_H */
