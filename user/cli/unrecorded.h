/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executions that were counted or estimated, and not recorded: summed up until they are written. */
#ifndef QPROF_CLI_UNRECORDED_H
#define QPROF_CLI_UNRECORDED_H

#include "base/map.h"
#include "trace/trace.h"

/* All zeroes is an empty one. */
struct unrecorded {
	struct u64_map index_of; /* process, label and kind -> index into tallies */
	struct trace_tally *tallies;
	uint32_t n;
	uint32_t capacity;
};

/* -ENOMEM, or -EBADMSG for a kind that is no tally of executions. */
int unrecorded__add(struct unrecorded *u, const struct trace_tally *more);
void unrecorded__clear(struct unrecorded *u);

#endif /* QPROF_CLI_UNRECORDED_H */
