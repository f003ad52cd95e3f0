/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One of rustc's own profiles as a process of a trace. */
#ifndef QPROF_IMPORT_MEASUREME_H
#define QPROF_IMPORT_MEASUREME_H

#include "import/mm_reader.h"
#include "trace/writer.h"

struct measureme_found {
	uint64_t spans;
	uint64_t values;       /* events without a duration: they become tallies */
	uint64_t unnamed;      /* spans and values called <unknown> */
	uint64_t backwards;    /* intervals left out: they end before they start */
	uint64_t out_of_order; /* left out: they end after one that follows them in their thread */
	uint64_t overlapping;  /* kept, though others overlap them */
	uint64_t arguments;    /* ids that stand for an event's arguments */
	bool too_many_arguments; /* more than a trace holds: others have been left out */
};

/*
 * Add the whole profile as process `index`. Its times are in ns since the epoch. `path` gives a
 * name to a crate that nothing else names. 0; what the writer or the reader say; -ENOMEM.
 */
int import_measureme(struct trace_writer *w, uint32_t index, struct mm_reader *r, const char *path,
		     struct measureme_found *found);

#endif /* QPROF_IMPORT_MEASUREME_H */
