// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/verdict.h"

#include "base/array.h"

static const enum trace_loss of_hits[] = {TRACE_LOST_NO_STORAGE, TRACE_LOST_RECURSION};
static const enum trace_loss of_intervals[] = {TRACE_LOST_RING_FULL, TRACE_LOST_STACK_FULL,
					       TRACE_LOST_UNKNOWN_PROVIDER, TRACE_LOST_BAD_RECORD};

bool verdict_is_most(uint64_t lost, uint64_t of)
{
	return lost > of / 2;
}

/* The sum over some causes, and the largest cause. */
static uint64_t sum_of(const struct trace_losses *l, const enum trace_loss *causes, size_t n,
		       enum trace_loss *largest)
{
	uint64_t sum = 0;

	*largest = causes[0];
	for (size_t i = 0; i < n; i++) {
		sum += l->count[causes[i]];
		if (l->count[causes[i]] > l->count[*largest])
			*largest = causes[i];
	}
	return sum;
}

/*
 * A lost hit loses its interval, and some of the other intervals are lost as well, so the shares
 * that were kept are multiplied.
 */
static void judge_losses(struct verdict *v, const struct trace_losses *l, uint64_t recorded)
{
	enum trace_loss hit_cause, interval_cause;
	uint64_t hits = sum_of(l, of_hits, N_OF(of_hits), &hit_cause);
	uint64_t intervals = sum_of(l, of_intervals, N_OF(of_intervals), &interval_cause);
	uint64_t all_hits = v->hits + l->count[TRACE_LOST_RECURSION];
	uint64_t all_intervals = intervals + recorded;
	double kept_hits, kept_intervals;

	/* Hits are reported when threads end, so a cut trace may lack them. */
	if (all_hits < hits + 2 * recorded)
		all_hits = hits + 2 * recorded;
	kept_hits = all_hits ? 1 - (double)hits / (double)all_hits : 1;
	kept_intervals = all_intervals ? 1 - (double)intervals / (double)all_intervals : 1;
	if (kept_hits * kept_intervals >= 0.5)
		return;
	if (kept_hits < kept_intervals) {
		v->state = VERDICT_LOST_HITS;
		v->cause = hit_cause;
		v->lost = hits;
		v->of = all_hits;
	} else {
		v->state = VERDICT_LOST_INTERVALS;
		v->cause = interval_cause;
		v->lost = intervals;
		v->of = all_intervals;
	}
}

struct verdict verdict_of(const struct summary *s, const struct trace_losses *losses)
{
	/* Intervals, and cache hits. */
	uint64_t recorded = summary__spans(s);
	uint64_t mappings = losses ? losses->count[TRACE_LOST_MAPPINGS] : 0, lost;
	struct verdict v = {.hits = losses ? losses->count[TRACE_COUNT_HITS] : 0};
	_free_ struct summary_row *rows = NULL;
	/* Compilers that were recorded; and those that were late, and of which nothing was. */
	uint32_t followed = 0, unseen = 0;
	size_t n = 0;

	if (!summary__rows(s, SUMMARY_ALL, &rows, &n))
		for (size_t i = 0; i < n; i++)
			recorded += rows[i].hits;
	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		const struct trace_process *p = summary__process_at(s, i);
		bool compiles = !summary__only_queried(s, i), is_recorded = summary__recorded(s, i);

		followed += is_recorded || (compiles && !p->attached_late);
		unseen += !is_recorded && compiles && p->attached_late;
		v.compilers += compiles;
		/* A failed compile may have ended before its first query. */
		if (!compiles || p->exit_status)
			continue;
		v.compiles++;
		v.late += p->attached_late;
	}
	if (losses)
		judge_losses(&v, losses, recorded);
	/* Those that are missing are in the trace, too, if they were late. */
	lost = losses ? losses->count[TRACE_LOST_COMPILERS] : 0;
	lost = lost && lost < unseen ? unseen : lost;
	if (lost && !v.state && verdict_is_most(lost, lost + followed)) {
		v.state = VERDICT_LOST_COMPILERS;
		v.cause = TRACE_LOST_COMPILERS;
		v.lost = lost;
		v.of = lost + followed;
	}
	/* An interval proves that a compiler was recorded, whatever its command line is. */
	if (mappings && !v.state && !v.compilers && !recorded) {
		v.state = VERDICT_LOST_MAPPINGS;
		v.cause = TRACE_LOST_MAPPINGS;
		v.lost = mappings;
	}
	if (!v.state && v.compiles && !recorded && !summary__is_sampled(s)) {
		v.state = VERDICT_NOTHING;
		v.lost = lost;
	}
	return v;
}
