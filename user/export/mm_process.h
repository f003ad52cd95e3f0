/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes one process of a trace as one .mm_profdata file, with ids, strings and times that
 * measureme's readers accept.
 */
#ifndef QPROF_EXPORT_MM_PROCESS_H
#define QPROF_EXPORT_MM_PROCESS_H

#include "base/cleanup.h"
#include "trace/reader.h"

struct mm_process;

/*
 * Create a file in `dir_fd` with the metadata of process `p`. `base_ns` is its time 0; no span may
 * start earlier. `losses`: those of the trace, or NULL if unknown. `r` supplies the texts and must
 * live longer.
 */
int mm_process__open(int dir_fd, const struct trace_reader *r, const struct trace_process *p,
		     uint64_t base_ns, const struct trace_losses *losses, struct mm_process **out);

/* 0 or a negative errno; 1 if the interval had to be adjusted. */
int mm_process__span(struct mm_process *m, const struct trace_span *s);
int mm_process__tally(struct mm_process *m, const struct trace_tally *t);

/* As mm_writer__finish(). */
int mm_process__finish(struct mm_process *m, const char *name, bool force);

/* Counts so far. */
uint64_t mm_process__events(const struct mm_process *m);
uint64_t mm_process__bytes(const struct mm_process *m);

void mm_process__free(struct mm_process *m);
DEFINE_CLEANUP(struct mm_process, mm_process__free)
#define _mm_process_ __cleanup(mm_process__free_p)

#endif /* QPROF_EXPORT_MM_PROCESS_H */
