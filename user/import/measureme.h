/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Imports a profile that rustc wrote itself as one process of a trace.
 *
 * To read this directory, begin with these files, in this order:
 *
 *   measureme_format.h  (include/qprof) the format of such a file (.mm_profdata)
 *   mm_file.c           finds the pages of a file, and reads a stream that lies in them
 *   mm_reader.c         reads events, strings and metadata from the streams
 *   measureme.c         adds all of it to a trace; the arguments of events and the depths of
 *                       intervals, which the file does not give directly, are at its end
 */
#ifndef QPROF_IMPORT_MEASUREME_H
#define QPROF_IMPORT_MEASUREME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
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

/*
 * Imports the arguments of a profile's events (rustc's query keys are arguments) as texts of a
 * trace, each with an invocation id. Texts that share parts in the profile share them in the trace.
 */

#define MM_ARGUMENTS_RUN 4096

/* State of one process. The first three fields are borrowed; all others start as zero. */
struct mm_arguments {
	struct trace_writer *w;
	const struct mm_strings *strings;
	uint32_t process;
	struct u64_map string_of; /* address -> string id; the size is bounded */
	struct u64_map number_of; /* address of an event's string -> its number; bounded */
	struct byte_buffer text;
	uint32_t n_own; /* numbers assigned so far */
	uint64_t kept;	/* ids with arguments in the trace */
	bool full;	/* the trace can hold no more arguments: some were left out */
	uint32_t first; /* a run of ids still to be written, */
	uint32_t n;	/* and their strings */
	uint32_t run[MM_ARGUMENTS_RUN];
};

/*
 * The invocation id for an event whose string at `address` has no virtual id: a number that
 * measureme never uses, or TRACE_NO_INVOCATION if the event has no arguments. 0, -ENOMEM, or an
 * error of the writer; a full trace is not an error.
 */
int mm_arguments__number(struct mm_arguments *a, uint32_t address, uint32_t *invocation);

/*
 * Call once, at the end. If any event has arguments, map the numbers from mm_arguments__number()
 * and all virtual ids of the profile; ids without arguments get an empty text. Returns as above.
 */
int mm_arguments__map(struct mm_arguments *a);

void mm_arguments__destroy(struct mm_arguments *a);

/*
 * Computes how deep each interval of a .mm_profdata file is nested, by the rule of measureme's
 * readers: the parent of an interval is the next interval of its thread, in file order, whose times
 * enclose it.
 */

/* Depth of an event that is no interval, or whose interval is backwards or out of order. */
#define MM_NO_DEPTH UINT16_MAX

struct mm_depths {
	uint16_t *depth;       /* by event */
	uint64_t last_end_ns;  /* of all intervals that have a depth */
	uint64_t backwards;    /* intervals that end before they start */
	uint64_t out_of_order; /* intervals that end after a later one of their thread */
	uint64_t overlapping;  /* intervals that overlap another, and neither encloses the other */
};

/*
 * Read all events of a file, last first. 0, -ENOMEM or -EIO. The caller destroys `*d` in any case.
 */
int mm_depths__find(struct mm_depths *d, struct mm_reader *r);

void mm_depths__destroy(struct mm_depths *d);

#endif /* QPROF_IMPORT_MEASUREME_H */
