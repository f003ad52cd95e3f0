/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Numbers of executions that have no span, as they were left out for a budget. */
#ifndef QPROF_ANALYZE_UNRECORDED_H
#define QPROF_ANALYZE_UNRECORDED_H

#include "trace/trace.h"

struct unrecorded {
	uint64_t counted;   /* exact number */
	uint64_t estimated; /* estimated number of further executions */
	bool rough; /* there are estimates, even if they are zero: the true number is unknown */
};

static inline bool unrecorded__any(const struct unrecorded *u)
{
	return u->counted || u->rough;
}

static inline void unrecorded__add(struct unrecorded *to, const struct unrecorded *from)
{
	to->counted += from->counted;
	to->estimated += from->estimated;
	to->rough |= from->rough;
}

/* Tallies of other kinds are ignored. */
static inline void unrecorded__tally(struct unrecorded *to, const struct trace_tally *t)
{
	to->counted += t->kind == TRACE_KIND_COUNTED ? t->events : 0;
	to->estimated += t->kind == TRACE_KIND_ESTIMATED ? t->events : 0;
	to->rough |= t->kind == TRACE_KIND_ESTIMATED;
}

#endif /* QPROF_ANALYZE_UNRECORDED_H */
