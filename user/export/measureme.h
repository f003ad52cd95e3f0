/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Exports a trace as measureme files, one per process, as rustc -Zself-profile writes them: names,
 * metadata, invocation ids as virtual ids, and times since the start of the process.
 */
#ifndef QPROF_EXPORT_MEASUREME_H
#define QPROF_EXPORT_MEASUREME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "trace/reader.h"

struct measureme_sums {
	uint32_t files;
	uint32_t empty;	   /* processes without an event, which have no file */
	uint64_t events;   /* of all files */
	uint64_t bytes;	   /* likewise */
	uint64_t adjusted; /* intervals adjusted to nest, or to fit 78 hours */
};

/*
 * Write the files into the directory `dir_fd`, called `dir` in messages. If a file of the same name
 * exists, nothing is written, unless `force`. Writing stops with -EFBIG once all files together
 * exceed `most` bytes. `survey` and `r` are two newly opened readers of the same file, as the trace
 * is read twice. Returns 0, or a negative errno after an error line; -EFBIG and the reader's -E2BIG
 * come without one. Files that were complete by then stay.
 *
 * Memory: the two readers; and for each process between its first and last event, three page
 * buffers of at most 128 KiB, and 4 bytes per invocation id.
 */
int export_measureme(struct trace_reader *survey, struct trace_reader *r, int dir_fd,
		     const char *dir, bool force, uint64_t most, struct measureme_sums *sums);

/*
 * Writes one process of a trace as one .mm_profdata file, with ids, strings and times that
 * measureme's readers accept.
 */

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

#endif /* QPROF_EXPORT_MEASUREME_H */
