/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The items of a trace that is followed. A compiler's executions get their names when it ends, so
 * its spans are read once more then, or its samples, which the follower keeps, are counted; only if
 * somebody asks for items.
 */
#ifndef QPROF_RECORD_FOLLOW_ITEMS_H
#define QPROF_RECORD_FOLLOW_ITEMS_H

#include "analyze/modules.h"
#include "record/follow.h"
#include "trace/replay.h"

/* The sums of which a process's items were made, or are being made. */
struct followed_process {
	uint64_t spans;
	uint32_t mappings;
	struct items *items; /* in the pass that is under way, or NULL */
};

/* All zeroes is empty. */
struct follow_items {
	struct item_list list;
	uint32_t n_left; /* compilers whose items are yet to be read, although they have names */
	struct trace_replay *replay;
	bool is_single;			    /* the trace can be read once only */
	struct self_time *self_time;	    /* NULL: no pass is under way */
	struct followed_process *processes; /* by index */
	uint32_t n_processes;
};

/*
 * Read the items of compilers that have names by now, until `until_ns` (CLOCK_MONOTONIC): call it
 * again while `n_left` is not 0. The list has those that were read. A trace of spans that cannot be
 * read twice, as from a pipe, has no items. 0 or -ENOMEM, and `f` needs destroying in any case.
 */
int follow_items__read(struct follow_items *f, const struct follow *from, uint64_t until_ns);

void follow_items__destroy(struct follow_items *f);
#define _follow_items_ __cleanup(follow_items__destroy)

#endif /* QPROF_RECORD_FOLLOW_ITEMS_H */
