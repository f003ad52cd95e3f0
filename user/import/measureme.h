/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports a profile that rustc wrote itself as one process of a trace. */
#ifndef QPROF_IMPORT_MEASUREME_H
#define QPROF_IMPORT_MEASUREME_H

#include "import/mm_reader.h"
#include "trace/writer.h"

struct measureme_found {
	uint64_t spans;
	uint64_t values;	 /* events without a duration, imported as tallies */
	uint64_t unnamed;	 /* spans and values with the label <unknown> */
	uint64_t backwards;	 /* intervals left out because they end before they start */
	uint64_t out_of_order;	 /* intervals left out because they end after a later one of their
				    thread */
	uint64_t overlapping;	 /* intervals that overlap others, but were kept */
	uint64_t arguments;	 /* ids that stand for arguments */
	bool too_many_arguments; /* the trace could not hold all arguments */
};

/*
 * Add the whole profile as process `index`. Its times are ns since the epoch. The crate's name
 * comes from `path` if nothing else gives it. 0, an error of the writer or the reader, or -ENOMEM.
 */
int import_measureme(struct trace_writer *w, uint32_t index, struct mm_reader *r, const char *path,
		     struct measureme_found *found);

#endif /* QPROF_IMPORT_MEASUREME_H */
