// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/results.h"

#include "test.h"
#include "base/array.h"

#define N 4

/* Of which the first may not be fed, all local ones of the second are, and some of the third may.
 */
static uint8_t fed[N] = {PLAN_FED_NOT, PLAN_FED_LOCAL, PLAN_FED_SOME, PLAN_FED_NOT};
static uint32_t labels[N] = {10, 11, 12, 13};
static uint32_t caches[N] = {0x1000, 0x2000, 0x3000, 0x4000};
static struct library lib = {.labels = labels, .n_labels = N, .fed = fed, .caches = caches};

#define CONTEXT 0x7f0000000000

struct got {
	struct trace_tally tallies[N];
	uint32_t n;
};

static uint64_t lost;

static int on_tally(void *ctx, const struct trace_tally *t)
{
	struct got *got = ctx;

	assert_in_range(got->n, 0, N - 1);
	got->tallies[got->n++] = *t;
	return 0;
}

static int add(struct results *r, uint8_t moment, enum results_loads loads, uint32_t first,
	       uint32_t n, uint32_t of, const struct wire_count *items)
{
	struct wire_counts c = {
		.moment = moment, .first = first, .n = n, .of = of, .context = CONTEXT};

	if (items && n <= N)
		memcpy(c.items, items, n * sizeof(*items));
	return results__add(r, &lib, loads, &c, &lost);
}

static struct got give(struct results *r, enum results_loads loads)
{
	struct got got = {0};
	const struct decoder_sink sink = {.ctx = &got, .tally = on_tally};

	results__end(r, &lib, loads, &lost);
	assert_int_equal(results__give(r, &lib, &sink, 3), 0);
	return got;
}

static void assert_tally(const struct got *got, uint32_t i, uint32_t label, uint64_t events,
			 uint64_t sum)
{
	assert_in_range(i + 1, 1, got->n);
	assert_int_equal(got->tallies[i].process, 3);
	assert_int_equal(got->tallies[i].label, label);
	assert_int_equal(got->tallies[i].events, events);
	assert_int_equal(got->tallies[i].sum, sum);
}

static const struct wire_count counts[N] = {{5, 2, 0}, {7, 3, 0}, {4, 1, 0}, {0, 0, 1}};

TEST_CASE(fed_results_are_no_executions)
{
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_int_equal(got.n, N);
	assert_tally(&got, 0, 10, 7, 0);
	assert_tally(&got, 1, 11, 3, 0);
	assert_tally(&got, 2, 12, 5, 4);
	assert_tally(&got, 3, 13, 1, 0);
	/* All is given once. */
	assert_int_equal(give(&r, false).n, 0);
}

static void feed(struct results *r, uint64_t cache, uint32_t n)
{
	const struct wire_fed record = {.cache = cache, .at = WIRE_NO_COUNT};

	while (n--)
		assert_int_equal(results__fed(r, &lib, &record), 0);
}

/* By the address of the cache, or by the query. */
TEST_CASE(results_that_were_seen_being_fed_are_no_executions)
{
	struct results r = {0};
	struct got got;

	lib.fed[2] = PLAN_FED_SEEN;
	feed(&r, CONTEXT + 0x3000, 2);
	feed(&r, 2, 1);
	feed(&r, CONTEXT + 0x3008, 1);
	feed(&r, CONTEXT + 0x1000, 1);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	/* They are not in the reading. */
	feed(&r, 2, 1);
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	/* The next context may be at the same address. */
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_tally(&got, 0, 10, 14, 0);
	assert_tally(&got, 2, 12, 2 + 5, 0);
	lib.fed[2] = PLAN_FED_SOME;
}

TEST_CASE(what_was_fed_may_not_be_known)
{
	struct results r = {0};
	struct got got;

	lib.fed[2] = PLAN_FED_SEEN;
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, RESULTS_NO_LOADS_LATE, 0, N, N, counts), 0);
	got = give(&r, RESULTS_NO_LOADS_LATE);
	assert_tally(&got, 0, 10, 7, 0);
	assert_tally(&got, 2, 12, 5, 4);
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_tally(&got, 2, 12, 5, 4);
	/* More than there are. */
	feed(&r, 2, 5);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_tally(&got, 2, 12, 5, 4);
	/* In more places than a context has. */
	for (uint64_t i = 0; i < 2000; i++)
		feed(&r, CONTEXT + 0x100000 + i, 1);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_tally(&got, 2, 12, 5, 4);
	/* Of two contexts, as the record of the first one's drop was lost. */
	for (int context = 1; context <= 2; context++) {
		feed(&r, CONTEXT + 0x3000, 1);
		assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, counts), 0);
	}
	got = give(&r, false);
	assert_tally(&got, 2, 12, 4 + 5, 4);
	lib.fed[2] = PLAN_FED_SOME;
}

/* What comes when the context is dropped is worse, unless nothing came before. */
TEST_CASE(the_first_reading_of_a_context_counts)
{
	static const struct wire_count later[N] = {{50, 0, 0}, {0}, {0}, {0}};
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, true, 0, N, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, true, 0, N, N, later), 0);
	/* The next context of the process is dropped after an error. */
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, later), 0);
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	got = give(&r, true);
	assert_tally(&got, 0, 10, 57, 0);
}

TEST_CASE(loads_are_no_executions)
{
	struct results r = {0};
	struct got got;

	for (int i = 0; i < 6; i++)
		assert_int_equal(results__load(&r, &lib, 0), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, true, 0, N, N, counts), 0);
	/* These come too late to be in it. */
	assert_int_equal(results__load(&r, &lib, 0), 0);
	assert_int_equal(results__load(&r, &lib, 3), 0);
	got = give(&r, true);
	assert_tally(&got, 0, 10, 7, 6);
	assert_tally(&got, 3, 13, 1, 0);
}

/* An interval was lost, which may have been a load; or of which query it was is unknown. */
TEST_CASE(loads_that_are_lost_are_unsure)
{
	struct results r = {0};
	struct got got;

	/* Of a query that is not known. */
	assert_int_equal(results__load(&r, &lib, N), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, RESULTS_LOADS_SEEN, 0, N, N, counts), 0);
	got = give(&r, RESULTS_LOADS_SEEN);
	assert_tally(&got, 0, 10, 7, 7);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, RESULTS_NO_LOADS, 0, N, N, counts), 0);
	r.records_lost = true;
	got = give(&r, RESULTS_NO_LOADS);
	assert_tally(&got, 0, 10, 7, 0);
}

/* Results have come from the disk that no interval shows. */
TEST_CASE(an_incremental_compile_that_failed_is_unsure)
{
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, true, 0, N, N, counts), 0);
	got = give(&r, true);
	assert_tally(&got, 0, 10, 7, 7);
	lib.no_loads = true;
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, true, 0, N, N, counts), 0);
	got = give(&r, true);
	lib.no_loads = false;
	assert_tally(&got, 0, 10, 7, 7);
}

/* The reading says that none was loaded. */
TEST_CASE(a_first_incremental_compile_loads_nothing)
{
	struct wire_counts c = {.n = N, .of = N, .no_loads = 1, .context = CONTEXT};
	struct results r = {0};
	struct got got;

	memcpy(c.items, counts, sizeof(counts));
	for (c.moment = WIRE_COUNTS_FINISHED; c.moment <= WIRE_COUNTS_RUNNING; c.moment++) {
		assert_int_equal(results__add(&r, &lib, RESULTS_LOADS_UNSEEN, &c, &lost), 0);
		got = give(&r, RESULTS_LOADS_UNSEEN);
		assert_tally(&got, 0, 10, 7, 0);
		assert_tally(&got, 2, 12, 5, 4);
	}
	/* Of the next reading it is not known. */
	c.no_loads = 0;
	c.moment = WIRE_COUNTS_FINISHED;
	assert_int_equal(results__add(&r, &lib, RESULTS_LOADS_UNSEEN, &c, &lost), 0);
	got = give(&r, RESULTS_LOADS_UNSEEN);
	assert_tally(&got, 0, 10, 7, 7);
}

/* Of these the disk has none. */
TEST_CASE(queries_that_are_never_loaded_are_exact_in_any_compile)
{
	static bool never_loaded[N] = {true, false, true, false};
	struct results r = {0};
	struct got got;

	lib.never_loaded = never_loaded;
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, RESULTS_LOADS_UNSEEN, 0, N, N, counts), 0);
	got = give(&r, RESULTS_LOADS_UNSEEN);
	lib.never_loaded = NULL;
	assert_tally(&got, 0, 10, 7, 0);
	assert_tally(&got, 1, 11, 3, 3);
	assert_tally(&got, 2, 12, 5, 4);
	assert_tally(&got, 3, 13, 1, 1);
}

TEST_CASE(a_reading_of_several_records_must_be_whole)
{
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, 3, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 3, 1, N, counts + 3), 0);
	got = give(&r, false);
	assert_int_equal(got.n, N);
	/* One was lost. */
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, 2, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 3, 1, N, counts + 3), 0);
	assert_int_equal(give(&r, false).n, 0);
}

TEST_CASE(an_unknown_number_stays_unknown)
{
	static const struct wire_count unknown[N] = {{WIRE_NO_COUNT, 0, 0}, {0}, {0}, {2, 0, 0}};
	struct results r = {0};
	struct got got;

	lost = 0;
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, unknown), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_int_equal(got.n, N);
	assert_tally(&got, 0, 10, 7, 0);
	assert_tally(&got, 1, 11, 3, 0);
	assert_tally(&got, 3, 13, 3, 0);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS_AT_LEAST);
	assert_int_equal(got.tallies[1].kind, TRACE_KIND_RESULTS);
	assert_int_equal(lost, 1);
}

static const struct wire_count one_lost[N] = {{WIRE_NO_COUNT, 0, 0}, {7, 3, 0}, {0}, {0}};

/* A context has two readings, and its drop. */
TEST_CASE(what_is_lost_is_counted_once_for_each_context)
{
	struct results r = {0};

	lost = 0;
	for (int context = 1; context <= 2; context++) {
		assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, one_lost), 0);
		assert_int_equal(lost, context - 1);
		assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, one_lost), 0);
		assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
		assert_int_equal(lost, context);
	}
	assert_int_equal(give(&r, false).n, 2);
	assert_int_equal(lost, 2);
	/* Half of the second one is lost, but the first one is whole. */
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, 2, N, counts), 0);
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	assert_int_equal(lost, 2);
	assert_int_equal(give(&r, false).tallies[0].kind, TRACE_KIND_RESULTS);
}

/* No record of it came, but the context was dropped. */
TEST_CASE(a_reading_that_is_lost_is_missed)
{
	struct results r = {0};
	struct got got;

	lost = 0;
	lib.fed[3] = PLAN_FED_UNKNOWN;
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	assert_int_equal(lost, N - 1);
	/* Nothing is known of the process: that is said by saying nothing. */
	assert_int_equal(give(&r, false).n, 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, 3, N, counts), 0);
	assert_int_equal(give(&r, false).n, 0);
	assert_int_equal(lost, 2 * (N - 1));
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	lib.fed[3] = PLAN_FED_NOT;
	assert_int_equal(got.n, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(got.tallies[i].kind, TRACE_KIND_RESULTS_AT_LEAST);
}

TEST_CASE(a_running_compiler_may_make_more)
{
	static const struct wire_count now[N] = {{1, 0, 0}, {7, 1, 0}, {0}, {0}};
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
	got = give(&r, false);
	assert_int_equal(got.n, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(got.tallies[i].kind, TRACE_KIND_RESULTS_AT_LEAST);
	assert_tally(&got, 0, 10, 1, 0);
	assert_tally(&got, 1, 11, 1, 0);
	assert_tally(&got, 3, 13, 0, 0);
	/* Loads that ran before are in no record. */
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, true, 0, N, N, now), 0);
	got = give(&r, true);
	assert_tally(&got, 0, 10, 1, 1);
	/* It drops its context before the recording ends after all, or it has executed all. */
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS);
	assert_tally(&got, 0, 10, 7, 0);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
	got = give(&r, false);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS);
	assert_tally(&got, 0, 10, 7, 0);
}

/* Without probes the drop of the first is not seen. It is no more known to be whole. */
TEST_CASE(another_context_of_a_running_compiler_adds_up)
{
	static const struct wire_count now[N] = {{5, 0, 0}, {7, 1, 0}, {0}, {0}};
	struct wire_counts other = {.moment = WIRE_COUNTS_RUNNING,
				    .n = N,
				    .of = N,
				    .context = CONTEXT + 0x100000,
				    .items = {{2, 0, 0}}};
	struct results r = {0};
	struct got got;

	for (int i = 0; i < 2; i++)
		assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(results__add(&r, &lib, RESULTS_NO_LOADS, &other, &lost), 0);
	/* The first was not dropped after all; and one is cut off. */
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
	other.n = 2;
	other.items[0].results = 1;
	assert_int_equal(results__add(&r, &lib, RESULTS_NO_LOADS, &other, &lost), 0);
	got = give(&r, false);
	assert_tally(&got, 0, 10, 5 + 2, 0);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS_AT_LEAST);
}

static struct got show(const struct results *r)
{
	struct got got = {0};
	const struct decoder_sink sink = {.ctx = &got, .tally = on_tally};

	assert_int_equal(results__show(r, &lib, RESULTS_NO_LOADS, &sink, 3), 0);
	return got;
}

/* However often it is read and shown, nothing counts twice. */
/* As from outside, where the drop of the first is seen when the second is. */
TEST_CASE(a_context_behind_one_that_was_read_to_its_end_adds_up)
{
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, false, 0, N, N, counts), 0);
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_tally(&got, 0, 10, 14, 0);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS_AT_LEAST);
}

TEST_CASE(a_reading_replaces_the_one_before)
{
	static const struct wire_count now[N] = {{1, 0, 0}, {7, 1, 0}, {0}, {0}};
	struct results r = {0};
	struct got got;

	assert_int_equal(show(&r).n, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
		got = show(&r);
		assert_int_equal(got.n, 2);
		assert_tally(&got, 0, 10, 1, 0);
		assert_tally(&got, 1, 11, 1, 0);
		assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS_AT_LEAST);
	}
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, counts), 0);
	got = show(&r);
	assert_tally(&got, 0, 10, 7, 0);
	assert_tally(&got, 2, 12, 5, 4);
	/* What is read last, when the context is dropped, replaces it once more. */
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, counts), 0);
	assert_int_equal(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost), 0);
	got = show(&r);
	assert_tally(&got, 0, 10, 7, 0);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS);
	/* The next context of the process is not that one. */
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING, false, 0, N, N, now), 0);
	got = show(&r);
	assert_tally(&got, 0, 10, 8, 0);
	assert_int_equal(got.tallies[0].kind, TRACE_KIND_RESULTS_AT_LEAST);
	got = give(&r, false);
	assert_tally(&got, 0, 10, 8, 0);
	assert_int_equal(show(&r).n, 0);
}

TEST_CASE(records_that_make_no_sense_are_refused)
{
	struct results r = {0};

	assert_int_equal(add(&r, 0, false, 0, N, N, counts), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_RUNNING + 1, false, 0, N, N, counts), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, 0, N, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, N + 1, N + 1, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, N, 1, N, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 2, 3, N, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, WIRE_COUNTS_MAX + 1, N, NULL),
			 -EBADMSG);
	assert_int_equal(give(&r, false).n, 0);
}

TEST_MAIN(NULL, NULL)
