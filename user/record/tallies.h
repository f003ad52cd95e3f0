/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executions that were counted or estimated, not recorded: summed until they are written. */
#ifndef QPROF_RECORD_TALLIES_H
#define QPROF_RECORD_TALLIES_H

#include "base/table.h"
#include "trace/trace.h"

/* All zeroes: empty. */
struct tallies {
	TABLE(struct trace_tally) of; /* by process, label and kind */
};

/* -ENOMEM, or -EBADMSG for a kind that is no tally of executions. */
int tallies__add(struct tallies *u, const struct trace_tally *more);

/*
 * Pass the tallies of a process, or of all with UINT32_MAX, to `take`, and remove them. Returns the
 * first error of `take`, which is called for all of them; or -ENOMEM.
 */
int tallies__take(struct tallies *u, uint32_t process,
		  int (*take)(void *ctx, const struct trace_tally *t), void *ctx);

void tallies__clear(struct tallies *u);

#endif /* QPROF_RECORD_TALLIES_H */
