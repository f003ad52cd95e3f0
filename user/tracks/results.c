// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A query whose number was unknown once. */
#define UNKNOWN UINT64_MAX

void results__clear(struct results *r)
{
	free(r->reading);
	free(r->loads);
	free(r->sums);
	*r = (struct results){0};
}

/* Make room for the queries of a library; those of another one are forgotten. */
static int prepare(struct results *r, uint32_t n)
{
	if (r->n == n && r->sums)
		return 0;
	results__clear(r);
	r->reading = calloc(n + 1UL, sizeof(*r->reading));
	r->sums = calloc(n + 1UL, sizeof(*r->sums));
	r->loads = calloc(n + 1UL, sizeof(*r->loads));
	if (!r->reading || !r->sums || !r->loads) {
		results__clear(r);
		return -ENOMEM;
	}
	r->n = r->n_sums = n;
	return 0;
}

/*
 * All results were executed, but those that were fed or loaded. Some loads find nothing, and an
 * execution follows. When the context is dropped, results have come from the disk that no interval
 * shows.
 */
static void add_up(struct results *r, const struct library *lib, enum results_loads loads)
{
	bool other = loads != RESULTS_NO_LOADS && r->moment != WIRE_COUNTS_FINISHED;
	bool unseen = loads == RESULTS_LOADS_UNSEEN || (lib->no_loads && loads != RESULTS_NO_LOADS);

	/* A part of the reading was lost: the sums of all contexts are not known. */
	for (uint32_t i = 0; i < r->n && r->got != r->n; i++)
		r->sums[i].events = UNKNOWN;
	for (uint32_t i = 0; i < r->n && r->got == r->n; i++) {
		const struct wire_count *c = &r->reading[i];
		struct trace_tally *sum = &r->sums[i];
		uint64_t n = (uint64_t)c->results + c->others + c->active;
		uint64_t unsure = unseen ? n : r->loads[i];

		if (c->results == WIRE_NO_COUNT || sum->events == UNKNOWN) {
			sum->events = UNKNOWN;
			continue;
		}
		if (lib->fed[i] == PLAN_FED_LOCAL)
			n -= c->results;
		else if (lib->fed[i] == PLAN_FED_SOME)
			unsure += c->results;
		sum->events += n;
		sum->sum += other || unsure > n ? n : unsure;
	}
	memset(r->loads, 0, r->n * sizeof(*r->loads));
	r->got = 0;
	r->moment = 0;
}

static bool is_whole(const struct results *r)
{
	return r->n && r->got == r->n;
}

int results__add(struct results *r, const struct library *lib, enum results_loads loads,
		 const struct wire_counts *record)
{
	bool kept, last = record->n == record->of - record->first;

	if (!record->moment || record->moment > WIRE_COUNTS_DYING || record->n > WIRE_COUNTS_MAX ||
	    !record->n || record->of != lib->n_labels || record->first >= record->of ||
	    record->n > record->of - record->first)
		return -EBADMSG;
	/* The library's number was given to another, whose queries are not these. */
	if (!lib->fed)
		return 0;
	if (prepare(r, record->of))
		return -ENOMEM;
	/* What was read when all queries were executed is the better one. */
	kept = record->moment != WIRE_COUNTS_FINISHED && r->moment == WIRE_COUNTS_FINISHED &&
	       is_whole(r);
	if (!kept && !record->first) {
		r->moment = record->moment;
		r->got = 0;
	}
	if (!kept && record->first == r->got && record->moment == r->moment) {
		memcpy(&r->reading[record->first], record->items,
		       record->n * sizeof(*record->items));
		r->got += record->n;
	}
	if (last && record->moment != WIRE_COUNTS_FINISHED)
		add_up(r, lib, loads);
	return 0;
}

int results__load(struct results *r, const struct library *lib, uint32_t query)
{
	if (!lib->fed || query >= lib->n_labels)
		return 0;
	if (prepare(r, lib->n_labels))
		return -ENOMEM;
	r->loads[query] += r->moment != WIRE_COUNTS_FINISHED;
	return 0;
}

int results__give(struct results *r, const struct library *lib, enum results_loads loads,
		  const struct tracks_sink *sink, uint32_t process)
{
	int err = 0;

	if (!r->n || !lib->fed || lib->n_labels != r->n)
		return 0;
	/* The context was not dropped: the process ended before. */
	if (is_whole(r))
		add_up(r, lib, loads);
	for (uint32_t i = 0; i < r->n && !err && sink->tally; i++) {
		struct trace_tally *t = &r->sums[i];

		t->process = process;
		t->label = lib->labels[i];
		t->kind = TRACE_KIND_RESULTS;
		if (t->events && t->events != UNKNOWN)
			err = sink->tally(sink->ctx, t);
	}
	results__clear(r);
	return err;
}
