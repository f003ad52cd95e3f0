/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A trace as measureme's files, one per process, as rustc -Zself-profile would have written them:
 * names, metadata, invocation ids as virtual ids, times since the process' start.
 */
#ifndef QPROF_EXPORT_MEASUREME_H
#define QPROF_EXPORT_MEASUREME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/reader.h"

struct measureme_sums {
	uint32_t files;
	uint32_t empty;	   /* processes without an event, which have no file */
	uint64_t events;   /* of all files */
	uint64_t bytes;	   /* likewise */
	uint64_t adjusted; /* intervals that had to be made to nest, or to fit 78 hours */
};

/*
 * Write the files into the directory `dir_fd`, called `dir` in messages. Files of the same name are
 * kept, and nothing is written, unless `force`. The trace is read twice: `survey` and `r` are two
 * fresh readers of one file. Negative errno after an error line; files that were whole by then
 * stay.
 *
 * Memory: the two readers'; and of each process between its first event and its last, three page
 * buffers of at most 128 KiB and 4 bytes per invocation id.
 */
int export_measureme(struct trace_reader *survey, struct trace_reader *r, int dir_fd,
		     const char *dir, bool force, struct measureme_sums *sums);

#endif /* QPROF_EXPORT_MEASUREME_H */
