/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attaches and detaches the probes of queries as the governor decides, and reports the decisions.
 *
 * No span gets another execution's end. To count a query instead of recording it, a word in the
 * kernel half changes first: each start reads it once, so no execution is missed or counted twice.
 * The ends are detached one tick later, when the spans that were open have ended; spans that are
 * still open then are sent as untimed. In the other direction the ends are attached first.
 */
#ifndef QPROF_BUDGET_QUERY_WATCH_H
#define QPROF_BUDGET_QUERY_WATCH_H

#include "budget/costs.h"
#include "budget/decision.h"
#include "budget/estimates.h"
#include "budget/governor.h"
#include "budget/probe_control.h"

struct query_watch;

/* All that is passed must outlive the result, except for the two structs of functions. -ENOMEM. */
int query_watch__new(const struct probe_control *probes, struct governor *governor,
		     struct estimates *estimates, struct costs *costs,
		     const struct decision_sink *sink, struct query_watch **out);

/* Make room, so that query_watch__add() cannot fail. -ENOMEM. */
int query_watch__reserve(struct query_watch *w, uint32_t n_queries, uint32_t n_sets);

struct query_watch_library {
	uint8_t lib;
	const struct plan *plan;
	const struct governor_query *queries; /* of the plan, with sets from 0 */
	const bool *recorded;		      /* of the plan: the query passes the filter */
	uint32_t n_sets;
	uint32_t first_set; /* in the governor */
	struct rates *learnt;
};

/* Add the queries and sets of a library, with the numbers of the governor and the estimates. */
void query_watch__add(struct query_watch *w, const struct query_watch_library *l);

/* Without a budget: all starts of the library's queries, from `first` on, stay attached. */
void query_watch__keep_all(struct query_watch *w, uint32_t first);

/* Attach the probes of the last added library that the governor wants. Negative errno. */
int query_watch__attach_first(struct query_watch *w, const struct query_watch_library *l,
			      uint32_t first, uint64_t now_ns);

/* Report decisions that were not reported yet, as made at `time_ns`. */
int query_watch__report(struct query_watch *w, uint64_t time_ns);

/* Detach the ends whose open spans have had their time. Before each tick of the governor. */
int query_watch__detach_ends(struct query_watch *w, uint64_t now_ns);

/* The governor has decided: do as it says. */
int query_watch__apply(struct query_watch *w, uint64_t now_ns);

void query_watch__free(struct query_watch *w);

#endif /* QPROF_BUDGET_QUERY_WATCH_H */
