/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print the snapshot of `qprof-bpf stuck` as text and JSON. */
#ifndef QPROF_VIEW_STUCK_VIEW_H
#define QPROF_VIEW_STUCK_VIEW_H

#include <stdio.h>

#include "stuck/snapshot.h"

struct stuck_style {
	bool color;
	bool full;    /* show every row and function */
	size_t width; /* columns; 0: unlimited */
};

/* How long ago that was, in the snapshot. */
static inline uint64_t stuck_since(const struct snapshot *p, uint64_t start_ns)
{
	return p->time_ns > start_ns ? p->time_ns - start_ns : 0;
}

/* Its compile_name(). The caller frees it; NULL: no memory. */
char *stuck_compile_name(const struct snapshot_process *p);

/*
 * A paragraph per compiler: its threads, busy ones first, each with its open intervals from the
 * outermost; then the processes it started. Other processes of the build come last. 0 or a negative
 * errno.
 */
int stuck_text(FILE *out, const struct snapshot *p, const struct stuck_style *style);

/*
 * As the recording of running compilers begins: a line for each thread that is in something, with
 * the intervals from the outermost.
 */
void stuck_begun(FILE *out, const struct snapshot *p);

/* One object, on a line; schema "qprof-stuck/1": its columns say what is in it. */
int stuck_json(FILE *out, const struct snapshot *p);

#endif /* QPROF_VIEW_STUCK_VIEW_H */
