// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "plan/plan.h"

/* A context has fewer queries that are fed. */
#define FEEDS_MOST 1024
/* As many keys as are copied (bpf/names_limits.h). */
#define FED_AT_MOST (1u << 22)

void results__clear(struct results *r)
{
	free(r->reading);
	free(r->next);
	free(r->loads);
	free(r->sums);
	for (uint32_t i = 0; i < r->n_feeds; i++)
		free(r->feeds[i].at);
	free(r->feeds);
	free(r->fed);
	item_results__clear(&r->items);
	*r = (struct results){0};
}

/* Make room for the queries of a library; those of another one are forgotten. */
static int prepare(struct results *r, uint32_t n)
{
	if (r->n == n && r->sums)
		return 0;
	results__clear(r);
	r->reading = calloc(n + 1UL, sizeof(*r->reading));
	r->next = calloc(n + 1UL, sizeof(*r->next));
	r->sums = calloc(n + 1UL, sizeof(*r->sums));
	r->loads = calloc(n + 1UL, sizeof(*r->loads));
	r->fed = calloc(n + 1UL, sizeof(*r->fed));
	if (!r->reading || !r->next || !r->sums || !r->loads || !r->fed) {
		results__clear(r);
		return -ENOMEM;
	}
	r->n = n;
	for (uint32_t i = 0; i < n; i++)
		r->sums[i].kind = TRACE_KIND_RESULTS;
	return 0;
}

/*
 * Add what the reading has of a query to its sum. All results were executed, but those that were
 * fed or loaded. Some loads find nothing, and an execution follows. When the context is dropped,
 * results have come from the disk that no interval shows. False: the reading has nothing of it.
 */
static bool add_query(const struct results *r, const struct library *lib, enum results_loads loads,
		      uint32_t i, struct trace_tally *sum)
{
	bool late = loads == RESULTS_NO_LOADS_LATE || loads == RESULTS_LOADS_UNSEEN;
	bool never = r->no_loads || (lib->never_loaded && lib->never_loaded[i]);
	bool loaded = !never && (loads == RESULTS_LOADS_SEEN || loads == RESULTS_LOADS_UNSEEN);
	bool other = loaded && r->moment != WIRE_COUNTS_FINISHED;
	bool unseen = loaded && (late || r->records_lost || lib->no_loads);
	const struct wire_count *c = &r->reading[i];
	uint64_t n = (uint64_t)c->results + c->others + c->active;
	uint64_t unsure = unseen ? n : r->loads[i];

	/* Or a part of the reading was lost. */
	if (c->results == WIRE_NO_COUNT || r->got != r->n) {
		sum->kind = TRACE_KIND_RESULTS_AT_LEAST;
		return false;
	}
	if (lib->fed[i] == PLAN_FED_LOCAL)
		n -= c->results;
	else if (lib->fed[i] == PLAN_FED_SEEN && !late && !r->records_lost && !lib->no_feeds &&
		 r->moment != WIRE_COUNTS_RUNNING && r->fed[i] <= c->results)
		n -= r->fed[i];
	else if (lib->fed[i] == PLAN_FED_SOME || lib->fed[i] == PLAN_FED_SEEN)
		unsure += c->results;
	if (r->moment == WIRE_COUNTS_RUNNING)
		sum->kind = TRACE_KIND_RESULTS_AT_LEAST;
	sum->events += n;
	sum->sum += other || unsure > n ? n : unsure;
	return true;
}

/*
 * Leave out the results of a query that were fed to it. Those that were fed after the reading are
 * not among its results. False: which ones they are is not known of all.
 */
static bool leave_out_fed(struct results *r, const struct library *lib, uint32_t query)
{
	uint32_t n = 0, fed = r->fed[query], results = r->reading[query].results;
	_free_ uint32_t *at = fed <= results ? calloc(fed, sizeof(*at)) : NULL;

	for (uint32_t i = 0; i < r->n_feeds && at; i++) {
		const struct results_feed *f = &r->feeds[i];

		if (f->cache != query && f->cache != r->context + lib->caches[query])
			continue;
		for (uint32_t k = 0; k < f->n_at; k++) {
			if (f->at[k] >= results)
				continue;
			if (n == fed)
				return false;
			at[n++] = f->at[k];
		}
	}
	return at && n == fed && item_results__leave_out(&r->items, query, at, n);
}

/*
 * What the results are about that the reading has of a query, of which `unsure` may be no
 * executions. False: it was read, and is not known.
 */
static bool settle_items(struct results *r, const struct library *lib, uint32_t i, bool known,
			 uint64_t unsure)
{
	const struct wire_count *c = &r->reading[i];
	uint8_t items = lib->items ? lib->items[i] : LIBRARY_NO_ITEMS;
	bool reads =
		items != LIBRARY_ITEMS_UNREAD && r->moment != WIRE_COUNTS_RUNNING && !lib->no_keys;

	if (items == LIBRARY_NO_ITEMS)
		return true;
	if (!known || (reads ? c->active : c->results || c->others || c->active)) {
		item_results__miss(&r->items, i);
		return true;
	}
	if (!reads || !c->results)
		return true;
	if (!item_results__settle(&r->items, i, c->results, unsure))
		return false;
	if (r->fed[i] && !unsure && !leave_out_fed(r, lib, i))
		item_results__doubt(&r->items, i);
	return true;
}

static void add_up(struct results *r, const struct library *lib, enum results_loads loads,
		   uint64_t *lost)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t before = r->sums[i].sum;
		bool known = add_query(r, lib, loads, i, &r->sums[i]);

		if (!known)
			*lost += lib->fed[i] != PLAN_FED_UNKNOWN;
		if (!settle_items(r, lib, i, known, r->sums[i].sum - before))
			++*lost;
	}
	memset(r->loads, 0, r->n * sizeof(*r->loads));
	r->got = 0;
	r->moment = 0;
	r->over = false;
}

static uint64_t fed_to(const struct results *r, uint64_t cache)
{
	for (uint32_t i = 0; i < r->n_feeds; i++)
		if (r->feeds[i].cache == cache)
			return r->feeds[i].n;
	return 0;
}

static int fed_at(struct results *r, struct results_feed *f, uint32_t at)
{
	f->n++;
	if (at == WIRE_NO_COUNT || r->n_fed_at == FED_AT_MOST)
		return 0;
	r->n_fed_at++;
	return array__add(&f->at, &f->n_at, &f->at_capacity, &at);
}

int results__fed(struct results *r, const struct library *lib, const struct wire_fed *record)
{
	struct results_feed feed = {.cache = record->cache};
	int err;

	if (!lib->fed)
		return 0;
	if (prepare(r, lib->n_labels))
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n_feeds; i++)
		if (r->feeds[i].cache == record->cache)
			return fed_at(r, &r->feeds[i], record->at);
	if (r->n_feeds == FEEDS_MOST) {
		r->records_lost = true;
		return 0;
	}
	err = array__add(&r->feeds, &r->n_feeds, &r->feeds_capacity, &feed);
	return err ?: fed_at(r, &r->feeds[r->n_feeds - 1], record->at);
}

/* What of the reading's results was fed, as known now. */
static void note_fed(struct results *r, const struct library *lib, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		uint64_t n = fed_to(r, i) + fed_to(r, r->context + lib->caches[i]);

		r->fed[i] = n < WIRE_NO_COUNT ? (uint32_t)n : WIRE_NO_COUNT;
	}
}

/*
 * A reading is of this context: results of another one before it are added to the sums. Without
 * probes it is not seen when one is dropped; one that is read again, beside another, counts as it
 * was. False: the reading does not count.
 */
static bool take_context(struct results *r, const struct library *lib, enum results_loads loads,
			 uint64_t context, uint64_t *lost)
{
	for (uint32_t i = 0; i < r->n_past; i++)
		if (r->past[i] == context)
			return false;
	if (!r->got || r->moment != WIRE_COUNTS_RUNNING || r->context == context)
		return true;
	if (r->n_past == RESULTS_PAST_MAX)
		return false;
	r->past[r->n_past++] = r->context;
	add_up(r, lib, loads, lost);
	return true;
}

/* A reading of a compiler that runs replaces the one before when it is whole. */
static int add_running(struct results *r, const struct library *lib, enum results_loads loads,
		       const struct wire_counts *record, uint64_t *lost)
{
	struct wire_count *reading = r->next;

	if (!record->first)
		r->n_next = 0;
	if (record->first != r->n_next)
		return 0;
	memcpy(&reading[record->first], record->items, record->n * sizeof(*record->items));
	r->n_next += record->n;
	if (r->n_next != r->n || !take_context(r, lib, loads, record->context, lost))
		return 0;
	r->next = r->reading;
	r->reading = reading;
	r->context = record->context;
	r->no_loads = record->no_loads;
	r->moment = WIRE_COUNTS_RUNNING;
	r->got = r->n;
	r->closed = false;
	note_fed(r, lib, 0, r->n);
	return lib->items ? item_results__begin(&r->items, r->n) : 0;
}

int results__add(struct results *r, const struct library *lib, enum results_loads loads,
		 const struct wire_counts *record, uint64_t *lost)
{
	bool kept, last = record->n == record->of - record->first;
	int err = 0;

	if (!record->moment || record->moment > WIRE_COUNTS_RUNNING ||
	    record->n > WIRE_COUNTS_MAX || !record->n || record->of != lib->n_labels ||
	    record->first >= record->of || record->n > record->of - record->first)
		return -EBADMSG;
	/* The library's number was given to another, whose queries are not these. */
	if (!lib->fed)
		return 0;
	if (prepare(r, record->of))
		return -ENOMEM;
	/* The record that says so was lost, so what was fed since then was added to the rest. */
	if (!record->first && r->over) {
		add_up(r, lib, loads, lost);
		r->records_lost = true;
	}
	/* What was read when all queries were executed is the better one. */
	kept = record->moment != WIRE_COUNTS_FINISHED && r->moment == WIRE_COUNTS_FINISHED &&
	       (r->n && r->got == r->n);
	if (record->moment == WIRE_COUNTS_RUNNING)
		return kept ? 0 : add_running(r, lib, loads, record, lost);
	if (!kept && !record->first) {
		r->moment = record->moment;
		r->no_loads = record->no_loads;
		r->got = 0;
		err = lib->items ? item_results__begin(&r->items, r->n) : 0;
	}
	r->closed = kept;
	if (!kept && record->first == r->got && record->moment == r->moment) {
		memcpy(&r->reading[record->first], record->items,
		       record->n * sizeof(*record->items));
		r->context = record->context;
		note_fed(r, lib, record->first, record->first + record->n);
		r->got += record->n;
	}
	/* Before the drop a better one may follow. */
	if (last && record->moment != WIRE_COUNTS_FINISHED)
		r->over = true;
	return err;
}

int results__add_keys(struct results *r, const struct library *lib, const struct wire_piece *piece)
{
	return lib->items && !r->closed ? item_results__add(&r->items, lib, piece) : 0;
}

int results__drop(struct results *r, const struct library *lib, enum results_loads loads,
		  uint64_t *lost)
{
	uint32_t n = 0;

	if (!lib->fed)
		return 0;
	if (prepare(r, lib->n_labels))
		return -ENOMEM;
	add_up(r, lib, loads, lost);
	/* Forget what was fed to the context: its memory may be another one's. */
	for (uint32_t i = 0; i < r->n_feeds; i++) {
		struct results_feed *f = &r->feeds[i];

		if (f->cache >= r->n && f->cache - r->context >= PLAN_LAYOUT_MAX) {
			r->feeds[n++] = *f;
			continue;
		}
		r->n_fed_at -= f->n_at;
		free(f->at);
	}
	r->n_feeds = n;
	return 0;
}

int results__load(struct results *r, const struct library *lib, uint32_t query)
{
	if (!lib->fed)
		return 0;
	if (prepare(r, lib->n_labels))
		return -ENOMEM;
	if (query >= lib->n_labels) {
		r->records_lost = true;
		return 0;
	}
	r->loads[query] += r->moment != WIRE_COUNTS_FINISHED;
	return 0;
}

void results__end(struct results *r, const struct library *lib, enum results_loads loads,
		  uint64_t *lost)
{
	if (r->got && lib->fed && lib->n_labels == r->n)
		add_up(r, lib, loads, lost);
}

int results__give(struct results *r, const struct library *lib, const struct decoder_sink *sink,
		  uint32_t process)
{
	bool any = false;
	int err = 0;

	if (!r->n || !lib->fed || lib->n_labels != r->n)
		return 0;
	for (uint32_t i = 0; i < r->n; i++)
		any = any || r->sums[i].events;
	for (uint32_t i = 0; i < r->n && any && !err && sink->tally; i++) {
		struct trace_tally *t = &r->sums[i];

		t->process = process;
		t->label = lib->labels[i];
		if (t->events || t->kind == TRACE_KIND_RESULTS_AT_LEAST)
			err = sink->tally(sink->ctx, t);
	}
	results__clear(r);
	return err;
}

int results__show(const struct results *r, const struct library *lib, enum results_loads loads,
		  const struct decoder_sink *sink, uint32_t process)
{
	int err = 0;

	if (!lib->fed || lib->n_labels != r->n)
		return 0;
	for (uint32_t i = 0; i < r->n && !err; i++) {
		struct trace_tally t = r->sums[i];

		t.process = process;
		t.label = lib->labels[i];
		/* All of its records come at once: until they have, the sums are all that is known.
		 */
		if (r->got)
			add_query(r, lib, loads, i, &t);
		if (t.events)
			err = sink->tally(sink->ctx, &t);
	}
	return err;
}
