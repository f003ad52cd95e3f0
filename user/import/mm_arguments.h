/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The arguments of a profile's events (what rustc calls query keys is one), as texts of a trace
 * that invocation ids stand for. What strings share in the profile they share in the trace.
 */
#ifndef QPROF_IMPORT_MM_ARGUMENTS_H
#define QPROF_IMPORT_MM_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "import/mm_strings.h"
#include "trace/writer.h"

#define MM_ARGUMENTS_RUN 4096

/* Of one process. All zeroes but for the first three, which are borrowed, is none. */
struct mm_arguments {
	struct trace_writer *w;
	const struct mm_strings *strings;
	uint32_t process;
	struct u64_map string_of; /* address -> string id; what is remembered is bounded */
	struct u64_map number_of; /* address of an event's string -> its number; likewise */
	struct byte_buffer text;
	uint32_t n_own; /* numbers given out */
	uint64_t kept;	/* ids with arguments that are in the trace */
	bool full;	/* the trace can hold no more of them: some were left out */
	uint32_t first; /* a run of ids that is still to be written, */
	uint32_t n;	/* and the strings that they stand for */
	uint32_t run[MM_ARGUMENTS_RUN];
};

/*
 * The invocation id for an event whose string is at `address` and has no virtual id: a number that
 * measureme gives to none, or TRACE_NO_INVOCATION if the event has no arguments. 0, -ENOMEM or what
 * the writer says, but not that the trace is full.
 */
int mm_arguments__number(struct mm_arguments *a, uint32_t address, uint32_t *invocation);

/*
 * Map what mm_arguments__number() gave out, and all virtual ids of the profile, if any event has an
 * argument: those without stand for an empty text then. Once, at the end; returns as above.
 */
int mm_arguments__map(struct mm_arguments *a);

void mm_arguments__destroy(struct mm_arguments *a);

#endif /* QPROF_IMPORT_MM_ARGUMENTS_H */
