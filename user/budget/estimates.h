/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Estimates of the executions that no probe saw, per compiler and query.
 *
 * A query has a gap in a compiler while its starts are detached. The estimate for a gap is its CPU
 * time multiplied by the rate of the query, as the governor knew it before and after. The
 * invocation ids of recorded executions number all executions of a compiler, so they correct the
 * sum of its estimates.
 *
 * Queries are numbered in the order in which they are added, as in the governor.
 */
#ifndef QPROF_BUDGET_ESTIMATES_H
#define QPROF_BUDGET_ESTIMATES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "budget/rates.h"
#include "qprof/wire.h"

struct estimates;

struct estimates_sink {
	void *ctx;
	/* A compiler ended and had about `events` executions of a query that no probe saw. */
	int (*estimated)(void *ctx, pid_t pid, uint32_t query, uint64_t events);
	/* Compilers of library `lib` used this much more CPU time. */
	void (*used_cpu)(void *ctx, uint8_t lib, double cpu_s);
};

struct estimates_query {
	uint8_t lib;
	uint32_t number; /* in the plan */
	bool wrapped;	 /* it starts at its wrapper */
	bool present;	 /* it is recorded and has starts: gaps are estimated */
	bool recorded;	 /* it passes the filter: its rate is learnt */
};

/* -ENOMEM. */
int estimates__new(const struct estimates_sink *sink, struct estimates **out);

/* Make room for `n` more queries: estimates__add_query() cannot fail for these. -ENOMEM. */
int estimates__reserve(struct estimates *e, uint32_t n);

/*
 * Rates of its library are learnt into `learnt`, which must outlive the estimates. The query has
 * no gap yet: see estimates__begin().
 */
void estimates__add_query(struct estimates *e, const struct estimates_query *q,
			  struct rates *learnt);

/* ---- Gaps ------------------------------------------------------------------------------------ */

/* The state of a query as its library is attached: `watched` if its starts are. */
void estimates__begin(struct estimates *e, uint32_t query, bool watched, double rate,
		      uint64_t now_ns);

/* The starts of a query were detached. `rate` is its rate before that. */
void estimates__open_gap(struct estimates *e, uint32_t query, double rate, uint64_t now_ns);

/* The starts of a query are attached again. Its gaps are not estimated before one is closed. */
void estimates__watch(struct estimates *e, uint32_t query);

/* End the gaps of a query, which had the rate `after` by the end of them. */
void estimates__close_gap(struct estimates *e, uint32_t query, double after);

/* The rate before the gap. */
double estimates__rate_before(const struct estimates *e, uint32_t query);

/* ---- Compilers ------------------------------------------------------------------------------- */

bool estimates__has_process(const struct estimates *e, pid_t pid);

/*
 * A compiler hit its first probe. Incremental compilers number more than executions. CPU time from
 * before `attached_ns`, when probes were attached, is not credited. -ESRCH: it is gone. -ENOMEM.
 */
int estimates__add_process(struct estimates *e, pid_t pid, bool incremental, uint64_t attached_ns);

/* A compiler ended, or the capture did: report its estimates. The sink's negative errno. */
int estimates__remove_process(struct estimates *e, pid_t pid);
int estimates__remove_all(struct estimates *e);

/* Read the CPU time of all compilers. */
void estimates__advance(struct estimates *e);

/* CPU time of all compilers so far. */
uint64_t estimates__cpu_ns(const struct estimates *e);
uint32_t estimates__n_processes(const struct estimates *e);

/* ---- Records --------------------------------------------------------------------------------- */

/* One execution was recorded, or `r->n` were counted. */
void estimates__saw_span(struct estimates *e, uint32_t query, const struct wire_span *r);
void estimates__saw_counted(struct estimates *e, uint32_t query, const struct wire_counted *r);

/* An interval of another kind was recorded. */
void estimates__saw_library(struct estimates *e, pid_t pid, uint8_t lib);

void estimates__free(struct estimates *e);

#endif /* QPROF_BUDGET_ESTIMATES_H */
