// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/query_watch.h"

#include <errno.h>

/* Open spans get so long to end before their ends are detached. */
#define OPEN_NS 4000000ull

struct query {
	uint8_t lib;
	uint32_t number; /* in the plan */
	uint32_t set;	 /* of the governor */
	bool wrapped;
	bool present; /* it has starts, and passes the filter */
	bool starts;  /* attached */
	bool counts;  /* the starts count, or do nothing */
	bool sampled; /* the starts are attached for one tick, though the query is off */
	enum governor_watch reported;
};

struct set {
	uint8_t lib;
	uint32_t number; /* in the plan */
	bool ends;	 /* attached */
	uint64_t end_ns; /* when they are to be detached; 0: they are not */
};

struct query_watch {
	struct probe_control probes;
	struct decision_sink sink;
	struct governor *governor;
	struct estimates *estimates;
	struct costs *costs;
	struct query *queries;
	uint32_t n_queries;
	struct set *sets;
	uint32_t n_sets;
};

int query_watch__new(const struct probe_control *probes, struct governor *governor,
		     struct estimates *estimates, struct costs *costs,
		     const struct decision_sink *sink, struct query_watch **out)
{
	struct query_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->probes = *probes;
	w->sink = *sink;
	w->governor = governor;
	w->estimates = estimates;
	w->costs = costs;
	*out = w;
	return 0;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

int query_watch__reserve(struct query_watch *w, uint32_t n_queries, uint32_t n_sets)
{
	struct query *queries =
		reallocarray(w->queries, w->n_queries + n_queries + 1ul, sizeof(*queries));
	struct set *sets;

	if (!queries)
		return -ENOMEM;
	w->queries = queries;
	sets = reallocarray(w->sets, w->n_sets + n_sets + 1ul, sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	w->sets = sets;
	return estimates__reserve(w->estimates, n_queries);
}

void query_watch__add(struct query_watch *w, const struct query_watch_library *l)
{
	for (uint32_t i = 0; i < l->n_sets; i++)
		w->sets[w->n_sets++] = (struct set){.lib = l->lib, .number = i};
	for (uint32_t i = 0; i < l->plan->n_queries; i++) {
		bool present = l->recorded[i] && w->probes.has_starts(w->probes.ctx, l->lib, i);
		const struct estimates_query estimated = {
			.lib = l->lib,
			.number = i,
			.wrapped = l->queries[i].wrapped,
			.present = present,
			.recorded = l->recorded[i],
		};

		estimates__add_query(w->estimates, &estimated, l->learnt);
		w->queries[w->n_queries++] = (struct query){
			.lib = l->lib,
			.number = i,
			.set = l->first_set + l->queries[i].set,
			.wrapped = l->queries[i].wrapped,
			.present = present,
		};
	}
}

void query_watch__keep_all(struct query_watch *w, uint32_t first)
{
	for (uint32_t i = first; i < w->n_queries; i++) {
		w->queries[i].starts = true;
		estimates__watch(w->estimates, i);
	}
}

static void begin(struct query_watch *w, uint32_t i, uint64_t now_ns)
{
	struct query *q = &w->queries[i];

	q->starts = governor__wants_starts(w->governor, i);
	q->counts = governor__watch(w->governor, i) != GOVERNOR_FULL;
	estimates__begin(w->estimates, i, q->starts, governor__rate(w->governor, i), now_ns);
	w->probes.count_only(w->probes.ctx, q->lib, q->number, q->counts);
}

int query_watch__attach_first(struct query_watch *w, const struct query_watch_library *l,
			      uint32_t first, uint64_t now_ns)
{
	_free_ bool *starts = calloc(l->plan->n_queries + 1ul, sizeof(*starts));
	_free_ bool *ends = calloc(l->n_sets + 1ul, sizeof(*ends));
	/* The wanted groups are attached already. */
	_free_ bool *no_groups = calloc(l->plan->n_guards + 1ul, sizeof(*no_groups));

	if (!starts || !ends || !no_groups)
		return -ENOMEM;
	for (uint32_t i = l->first_set; i < w->n_sets; i++)
		w->sets[i].ends = ends[i - l->first_set] = governor__wants_ends(w->governor, i);
	for (uint32_t i = first; i < w->n_queries; i++) {
		begin(w, i, now_ns);
		starts[i - first] = w->queries[i].starts;
	}
	return w->probes.attach(w->probes.ctx, l->lib, starts, ends, no_groups);
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static int report(struct query_watch *w, uint32_t i, uint64_t time_ns)
{
	struct query *q = &w->queries[i];
	const struct session_decision d = {
		.time_ns = time_ns,
		.query = q->number,
		.kind = WIRE_KIND_QUERY,
		.lib = q->lib,
		.watch = governor__watch(w->governor, i),
	};

	if (d.watch == q->reported || !q->present)
		return 0;
	q->reported = d.watch;
	return w->sink.decided(w->sink.ctx, &d);
}

int query_watch__report(struct query_watch *w, uint64_t time_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < w->n_queries && !err; i++)
		err = report(w, i, time_ns);
	return err;
}

/* ---- Switching ------------------------------------------------------------------------------- */

static void set_counts(struct query_watch *w, struct query *q, bool counts)
{
	w->probes.count_only(w->probes.ctx, q->lib, q->number, counts);
	q->counts = counts;
}

/* -EAGAIN: not yet. */
static int set_starts(struct query_watch *w, uint32_t i, bool attached, uint64_t now_ns)
{
	struct query *q = &w->queries[i];
	int err;

	if (q->starts == attached)
		return 0;
	err = costs__charge_switch(
		w->costs, w->probes.set_starts(w->probes.ctx, q->lib, q->number, attached));
	if (err)
		return err;
	q->starts = attached;
	if (attached)
		estimates__watch(w->estimates, i);
	else
		estimates__open_gap(w->estimates, i, governor__rate(w->governor, i), now_ns);
	return 0;
}

static int set_ends(struct query_watch *w, struct set *s, bool attached)
{
	return costs__charge_switch(w->costs,
				    w->probes.set_ends(w->probes.ctx, s->lib, s->number, attached));
}

/*
 * A sampled query had its starts attached for the last tick only. Its gap ends with the rate of
 * that tick.
 */
static void close_sampled_gaps(struct query_watch *w)
{
	for (uint32_t i = 0; i < w->n_queries; i++)
		if (governor__sampled(w->governor, i) && w->queries[i].sampled)
			estimates__close_gap(w->estimates, i, governor__sample(w->governor, i));
}

/* Starts change at once. Ends are detached later, as spans may be open. */
static int watch_less(struct query_watch *w, uint32_t i, uint64_t now_ns)
{
	struct query *q = &w->queries[i];
	struct set *s = &w->sets[q->set];
	enum governor_watch watch = governor__watch(w->governor, i);
	int err;

	if (!q->counts && watch != GOVERNOR_FULL) {
		set_counts(w, q, true);
		/* From now on any end in its bodies could be mistaken for its own. */
		if (q->wrapped)
			w->probes.lapse(w->probes.ctx, q->lib, q->number);
	}
	if (s->ends && !s->end_ns && !governor__wants_ends(w->governor, q->set))
		s->end_ns = now_ns + OPEN_NS;
	q->sampled = false;
	if (watch != GOVERNOR_OFF)
		return 0;
	err = set_starts(w, i, governor__samples(w->governor, i), now_ns);
	q->sampled = q->starts;
	return err == -EAGAIN ? 0 : err;
}

/* A switch that is refused with -EAGAIN is tried again at the next tick. */
static int watch_more(struct query_watch *w, uint32_t i, bool wrapped, uint64_t now_ns)
{
	struct query *q = &w->queries[i];
	enum governor_watch watch = governor__watch(w->governor, i);
	bool was_there = q->starts;
	int err;

	if (q->wrapped != wrapped || watch == GOVERNOR_OFF)
		return 0;
	err = set_starts(w, i, true, now_ns);
	if (err)
		return err == -EAGAIN ? 0 : err;
	if (!was_there)
		estimates__close_gap(w->estimates, i, estimates__rate_before(w->estimates, i));
	if (q->counts && watch == GOVERNOR_FULL && w->sets[q->set].ends)
		set_counts(w, q, false);
	return 0;
}

static int attach_ends(struct query_watch *w, uint32_t i)
{
	struct set *s = &w->sets[i];
	int err;

	if (!governor__wants_ends(w->governor, i))
		return 0;
	s->end_ns = 0;
	if (s->ends)
		return 0;
	err = set_ends(w, s, true);
	s->ends = !err;
	return err == -EAGAIN ? 0 : err;
}

static int detach_set(struct query_watch *w, uint32_t i)
{
	struct set *s = &w->sets[i];

	for (uint32_t j = 0; j < w->n_queries; j++)
		if (w->queries[j].set == i)
			w->probes.lapse(w->probes.ctx, s->lib, w->queries[j].number);
	s->end_ns = 0;
	s->ends = false;
	return set_ends(w, s, false);
}

int query_watch__detach_ends(struct query_watch *w, uint64_t now_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < w->n_sets && !err; i++)
		if (w->sets[i].end_ns && now_ns >= w->sets[i].end_ns)
			err = detach_set(w, i);
	return err;
}

/* Ends are attached before starts, and wrapped queries start after all others. */
int query_watch__apply(struct query_watch *w, uint64_t now_ns)
{
	int err = 0;

	close_sampled_gaps(w);
	for (uint32_t i = 0; i < w->n_queries && !err; i++)
		err = report(w, i, now_ns) ?: watch_less(w, i, now_ns);
	for (uint32_t i = 0; i < w->n_sets && !err; i++)
		err = attach_ends(w, i);
	for (uint32_t i = 0; i < w->n_queries && !err; i++)
		err = watch_more(w, i, false, now_ns);
	for (uint32_t i = 0; i < w->n_queries && !err; i++)
		err = watch_more(w, i, true, now_ns);
	return err;
}

void query_watch__free(struct query_watch *w)
{
	if (!w)
		return;
	free(w->queries);
	free(w->sets);
	free(w);
}
