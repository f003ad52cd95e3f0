// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/running.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

struct edge {
	uint64_t ns;
	size_t interval;
	bool starts;
};

/* The order of edges at the same time does not matter: no time passes between them. */
static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* State at one moment: the number of running intervals and, if it is one, which. */
struct now {
	uint64_t ns;
	size_t n;
	size_t sum; /* sum of the indices of the running intervals */
};

static void advance(struct running *r, struct running_interval *intervals, const struct now *now,
		    uint64_t ns)
{
	r->at[now->n] += ns - now->ns;
	if (now->n == 1)
		intervals[now->sum].alone_ns += ns - now->ns;
	if (now->n > 1)
		r->tail_ns = r->end_ns - ns;
	if (now->n >= r->n)
		r->n = now->n + 1;
}

int running__of(struct running *r, struct running_interval *intervals, size_t n)
{
	_free_ struct edge *edges = calloc(2 * n + 1, sizeof(*edges));
	size_t n_edges = 0;
	struct now now = {0};

	*r = (struct running){.at = calloc(n + 1, sizeof(*r->at)), .n = n > 0};
	if (!edges || !r->at) {
		running__destroy(r);
		return -ENOMEM;
	}
	r->start_ns = n ? UINT64_MAX : 0;
	for (size_t i = 0; i < n; i++) {
		struct running_interval *at = &intervals[i];
		uint64_t end_ns = at->end_ns > at->start_ns ? at->end_ns : at->start_ns;

		at->alone_ns = 0;
		r->start_ns = at->start_ns < r->start_ns ? at->start_ns : r->start_ns;
		r->end_ns = end_ns > r->end_ns ? end_ns : r->end_ns;
		/* Without a length it has no edges: the end may come before the start. */
		if (end_ns == at->start_ns)
			continue;
		edges[n_edges++] = (struct edge){at->start_ns, i, true};
		edges[n_edges++] = (struct edge){end_ns, i, false};
	}
	qsort(edges, n_edges, sizeof(*edges), compare_edges);
	r->tail_ns = r->end_ns - r->start_ns;
	now.ns = r->start_ns;
	for (size_t i = 0; i < n_edges; i++) {
		if (edges[i].ns > now.ns)
			advance(r, intervals, &now, edges[i].ns);
		now.ns = edges[i].ns;
		now.n += edges[i].starts ? 1 : -1UL;
		now.sum += edges[i].starts ? edges[i].interval : -edges[i].interval;
	}
	if (n)
		advance(r, intervals, &now, r->end_ns);
	return 0;
}

void running__destroy(struct running *r)
{
	free(r->at);
	*r = (struct running){0};
}

/* ---- Waits ----------------------------------------------------------------------------------- */

/* Waits with nothing around them yet, and waits inside activities only. */
enum { BARE, IN_PASS };

int wait_track__wait(struct within_track *t, const struct trace_span *span)
{
	/* The spans around deeper waits were lost. */
	struct within waits = within__take(t, span->depth);

	waits.ns[BARE] += span->end_ns - span->start_ns;
	return within__put(t, &waits);
}

void wait_track__span(struct within_track *t, const struct trace_span *span, struct waits *sums)
{
	struct within within;

	if (!t->n || t->at[t->n - 1].depth <= span->depth || span->kind == TRACE_KIND_HIT)
		return;
	within = within__take(t, span->depth);
	within.ns[IN_PASS] += within.ns[BARE];
	within.ns[BARE] = 0;
	if (span->kind != TRACE_KIND_ACTIVITY)
		sums->in_queries += within.ns[IN_PASS];
	else
		(void)within__put(t, &within); /* there is room, where it was taken from */
}

void wait_track__end(struct within_track *t, struct waits *sums)
{
	for (uint32_t i = 0; i < t->n; i++) {
		sums->in_neither += t->at[i].ns[BARE];
		sums->in_passes += t->at[i].ns[IN_PASS];
	}
	free(t->at);
	*t = (struct within_track){0};
}
