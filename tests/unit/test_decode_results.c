// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/results.h"

#include "test.h"

#define N 4

/* Of which the first may not be fed, all local ones of the second are, and some of the third may.
 */
static uint8_t fed[N] = {PLAN_FED_NOT, PLAN_FED_LOCAL, PLAN_FED_SOME, PLAN_FED_NOT};
static uint32_t labels[N] = {10, 11, 12, 13};
static uint32_t caches[N] = {0x1000, 0x2000, 0x3000, 0x4000};
static struct library lib = {.labels = labels, .n_labels = N, .fed = fed, .caches = caches};

#define CONTEXT 0x7f0000000000

/* One that each test uses. */
static struct results r;
static uint64_t lost;

static int begin(void **state)
{
	lib.fed[2] = PLAN_FED_SEEN;
	return 0;
}

static int end(void **state)
{
	results__clear(&r);
	memset(&r, 0, sizeof(r));
	lost = 0;
	lib.fed[2] = PLAN_FED_SOME;
	return 0;
}

#define CASE(name)	TEST_CASE_WITH(name, NULL, end)
#define SEEN_CASE(name) TEST_CASE_WITH(name, begin, end) /* of the third query it is seen */

/* "10=7+": at least 7 of the query with label 10; "10=7?2": 2 of them may be none. */
static int on_tally(void *ctx, const struct trace_tally *t)
{
	char *at = (char *)ctx + strlen(ctx);

	assert_int_equal(t->process, 3);
	assert_true(strlen(ctx) < 100);
	at += sprintf(at, "%s%u=%ju", *(char *)ctx ? " " : "", t->label, (uintmax_t)t->events);
	if (t->sum)
		at += sprintf(at, "?%ju", (uintmax_t)t->sum);
	if (t->kind == TRACE_KIND_RESULTS_AT_LEAST)
		strcpy(at, "+");
	else
		assert_int_equal(t->kind, TRACE_KIND_RESULTS);
	return 0;
}

static int add(uint8_t moment, enum results_loads loads, uint32_t first, uint32_t n, uint32_t of,
	       const struct wire_count *items)
{
	struct wire_counts c = {
		.moment = moment, .first = first, .n = n, .of = of, .context = CONTEXT};

	if (items && n <= N)
		memcpy(c.items, items, n * sizeof(*items));
	return results__add(&r, &lib, loads, &c, &lost);
}

/* A whole reading. */
static void read_at(uint8_t moment, enum results_loads loads, const struct wire_count *items)
{
	must(add(moment, loads, 0, N, N, items));
}

static void drop(void)
{
	must(results__drop(&r, &lib, RESULTS_NO_LOADS, &lost));
}

static const char *shown(bool end, enum results_loads loads)
{
	static char text[200];
	const struct decoder_sink sink = {.ctx = text, .tally = on_tally};

	*text = '\0';
	if (end) {
		results__end(&r, &lib, loads, &lost);
		must(results__give(&r, &lib, &sink, 3));
	} else {
		must(results__show(&r, &lib, loads, &sink, 3));
	}
	return text;
}

/* What is given in the end, or shown before. */
#define assert_given(loads, want) assert_string_equal(shown(true, loads), want)
#define assert_shown(want)	  assert_string_equal(shown(false, RESULTS_NO_LOADS), want)

static const struct wire_count counts[N] = {{5, 2, 0}, {7, 3, 0}, {4, 1, 0}, {0, 0, 1}};

CASE(fed_results_are_no_executions)
{
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	assert_given(false, "10=7 11=3 12=5?4 13=1");
	/* All is given once. */
	assert_given(false, "");
}

static void feed(uint64_t cache, uint32_t n)
{
	const struct wire_fed record = {.cache = cache, .at = WIRE_NO_COUNT};

	while (n--)
		must(results__fed(&r, &lib, &record));
}

/* By the address of the cache, or by the query. */
SEEN_CASE(results_that_were_seen_being_fed_are_no_executions)
{
	feed(CONTEXT + 0x3000, 2);
	feed(2, 1);
	feed(CONTEXT + 0x3008, 1);
	feed(CONTEXT + 0x1000, 1);
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	/* They are not in the reading. */
	feed(2, 1);
	drop();
	/* The next context may be at the same address. */
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	assert_given(false, "10=14 11=6 12=7 13=2");
}

SEEN_CASE(what_was_fed_may_not_be_known)
{
	read_at(WIRE_COUNTS_FINISHED, RESULTS_NO_LOADS_LATE, counts);
	assert_given(RESULTS_NO_LOADS_LATE, "10=7 11=3 12=5?4 13=1");
	read_at(WIRE_COUNTS_RUNNING, false, counts);
	assert_given(false, "10=7+ 11=3+ 12=5?4+ 13=1+");
	/* More than there are. */
	feed(2, 5);
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	assert_given(false, "10=7 11=3 12=5?4 13=1");
	/* In more places than a context has. */
	for (uint64_t i = 0; i < 2000; i++)
		feed(CONTEXT + 0x100000 + i, 1);
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	assert_given(false, "10=7 11=3 12=5?4 13=1");
	/* Of two contexts, as the record of the first one's drop was lost. */
	for (int context = 1; context <= 2; context++) {
		feed(CONTEXT + 0x3000, 1);
		read_at(WIRE_COUNTS_DROPPED, false, counts);
	}
	assert_given(false, "10=14 11=6 12=9?4 13=2");
}

/* What comes when the context is dropped is worse, unless nothing came before. */
CASE(the_first_reading_of_a_context_counts)
{
	static const struct wire_count later[N] = {{50, 0, 0}, {0}, {0}, {0}};

	read_at(WIRE_COUNTS_FINISHED, true, counts);
	read_at(WIRE_COUNTS_DROPPED, true, later);
	/* The next context of the process is dropped after an error. */
	read_at(WIRE_COUNTS_DROPPED, false, later);
	drop();
	assert_given(true, "10=57 11=3 12=5?4 13=1");
}

CASE(loads_are_no_executions)
{
	for (int i = 0; i < 6; i++)
		must(results__load(&r, &lib, 0));
	read_at(WIRE_COUNTS_FINISHED, true, counts);
	/* These come too late to be in it. */
	must(results__load(&r, &lib, 0), results__load(&r, &lib, 3));
	assert_given(true, "10=7?6 11=3 12=5?4 13=1");
}

/* An interval was lost, which may have been a load; or of which query it was is unknown. */
CASE(loads_that_are_lost_are_unsure)
{
	/* Of a query that is not known. */
	must(results__load(&r, &lib, N));
	read_at(WIRE_COUNTS_FINISHED, RESULTS_LOADS_SEEN, counts);
	assert_given(RESULTS_LOADS_SEEN, "10=7?7 11=3?3 12=5?5 13=1?1");
	read_at(WIRE_COUNTS_FINISHED, RESULTS_NO_LOADS, counts);
	r.records_lost = true;
	assert_given(RESULTS_NO_LOADS, "10=7 11=3 12=5?4 13=1");
}

/* Results have come from the disk that no interval shows. */
CASE(an_incremental_compile_that_failed_is_unsure)
{
	const char *given;

	read_at(WIRE_COUNTS_DROPPED, true, counts);
	assert_given(true, "10=7?7 11=3?3 12=5?5 13=1?1");
	lib.no_loads = true;
	read_at(WIRE_COUNTS_FINISHED, true, counts);
	given = shown(true, true);
	lib.no_loads = false;
	assert_string_equal(given, "10=7?7 11=3?3 12=5?5 13=1?1");
}

CASE(a_reading_of_several_records_must_be_whole)
{
	must(add(WIRE_COUNTS_DYING, false, 0, 3, N, counts),
	     add(WIRE_COUNTS_DYING, false, 3, 1, N, counts + 3));
	assert_given(false, "10=7 11=3 12=5?4 13=1");
	/* One was lost. */
	must(add(WIRE_COUNTS_DYING, false, 0, 2, N, counts),
	     add(WIRE_COUNTS_DYING, false, 3, 1, N, counts + 3));
	assert_given(false, "");
}

/* The reading says that none was loaded. */
CASE(a_first_incremental_compile_loads_nothing)
{
	struct wire_counts c = {.n = N, .of = N, .no_loads = 1, .context = CONTEXT};

	memcpy(c.items, counts, sizeof(counts));
	for (c.moment = WIRE_COUNTS_FINISHED; c.moment < WIRE_COUNTS_RUNNING; c.moment++) {
		must(results__add(&r, &lib, RESULTS_LOADS_UNSEEN, &c, &lost));
		assert_given(RESULTS_LOADS_UNSEEN, "10=7 11=3 12=5?4 13=1");
	}
	must(results__add(&r, &lib, RESULTS_LOADS_UNSEEN, &c, &lost));
	assert_given(RESULTS_LOADS_UNSEEN, "10=7+ 11=3+ 12=5?4+ 13=1+");
	/* Of the next reading it is not known. */
	read_at(WIRE_COUNTS_FINISHED, RESULTS_LOADS_UNSEEN, counts);
	assert_given(RESULTS_LOADS_UNSEEN, "10=7?7 11=3?3 12=5?5 13=1?1");
}

/* Of these the disk has none. */
CASE(queries_that_are_never_loaded_are_exact_in_any_compile)
{
	static bool never_loaded[N] = {true, false, true, false};
	const char *given;

	lib.never_loaded = never_loaded;
	read_at(WIRE_COUNTS_FINISHED, RESULTS_LOADS_UNSEEN, counts);
	given = shown(true, RESULTS_LOADS_UNSEEN);
	lib.never_loaded = NULL;
	assert_string_equal(given, "10=7 11=3?3 12=5?4 13=1?1");
}

CASE(an_unknown_number_stays_unknown)
{
	static const struct wire_count unknown[N] = {{WIRE_NO_COUNT, 0, 0}, {0}, {0}, {2, 0, 0}};

	read_at(WIRE_COUNTS_DROPPED, false, unknown);
	read_at(WIRE_COUNTS_DROPPED, false, counts);
	assert_given(false, "10=7+ 11=3 12=5?4 13=3");
	assert_int_equal(lost, 1);
}

static const struct wire_count one_lost[N] = {{WIRE_NO_COUNT, 0, 0}, {7, 3, 0}, {0}, {0}};

/* A context has two readings, and its drop. */
CASE(what_is_lost_is_counted_once_for_each_context)
{
	for (int context = 1; context <= 2; context++) {
		read_at(WIRE_COUNTS_FINISHED, false, one_lost);
		assert_int_equal(lost, context - 1);
		read_at(WIRE_COUNTS_DROPPED, false, one_lost);
		drop();
		assert_int_equal(lost, context);
	}
	assert_given(false, "10=0+ 11=6");
	assert_int_equal(lost, 2);
	/* Half of the second one is lost, but the first one is whole. */
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	must(add(WIRE_COUNTS_DROPPED, false, 0, 2, N, counts));
	drop();
	assert_int_equal(lost, 2);
	assert_given(false, "10=7 11=3 12=5?4 13=1");
}

/* No record of it came, but the context was dropped. */
CASE(a_reading_that_is_lost_is_missed)
{
	const char *given;

	lib.fed[3] = PLAN_FED_UNKNOWN;
	drop();
	assert_int_equal(lost, N - 1);
	/* Nothing is known of the process: that is said by saying nothing. */
	assert_given(false, "");
	must(add(WIRE_COUNTS_DYING, false, 0, 3, N, counts));
	assert_given(false, "");
	assert_int_equal(lost, 2 * (N - 1));
	drop();
	read_at(WIRE_COUNTS_DROPPED, false, counts);
	given = shown(true, false);
	lib.fed[3] = PLAN_FED_NOT;
	assert_string_equal(given, "10=7+ 11=3+ 12=5?4+ 13=1+");
}

CASE(a_running_compiler_may_make_more)
{
	static const struct wire_count now[N] = {{1, 0, 0}, {7, 1, 0}, {0}, {0}};

	read_at(WIRE_COUNTS_RUNNING, false, now);
	assert_given(false, "10=1+ 11=1+ 12=0+ 13=0+");
	/* Loads that ran before are in no record. */
	read_at(WIRE_COUNTS_RUNNING, true, now);
	assert_given(true, "10=1?1+ 11=1?1+ 12=0+ 13=0+");
	/* It drops its context before the recording ends after all, or it has executed all. */
	read_at(WIRE_COUNTS_RUNNING, false, now);
	read_at(WIRE_COUNTS_DROPPED, false, counts);
	assert_given(false, "10=7 11=3 12=5?4 13=1");
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	read_at(WIRE_COUNTS_RUNNING, false, now);
	assert_given(false, "10=7 11=3 12=5?4 13=1");
}

/* As from outside, where the drop of the first is seen when the second is. */
CASE(a_context_behind_one_that_was_read_to_its_end_adds_up)
{
	read_at(WIRE_COUNTS_RUNNING, false, counts);
	read_at(WIRE_COUNTS_FINISHED, false, counts);
	drop();
	read_at(WIRE_COUNTS_RUNNING, false, counts);
	assert_given(false, "10=14+ 11=6+ 12=10?8+ 13=2+");
}

/* Without probes the drop of the first is not seen. It is no more known to be whole. */
CASE(another_context_of_a_running_compiler_adds_up)
{
	static const struct wire_count now[N] = {{5, 0, 0}, {7, 1, 0}, {0}, {0}};
	struct wire_counts other = {.moment = WIRE_COUNTS_RUNNING,
				    .n = N,
				    .of = N,
				    .context = CONTEXT + 0x100000,
				    .items = {{2, 0, 0}}};

	for (int i = 0; i < 2; i++)
		read_at(WIRE_COUNTS_RUNNING, false, now);
	for (int i = 0; i < 2; i++)
		must(results__add(&r, &lib, RESULTS_NO_LOADS, &other, &lost));
	/* The first was not dropped after all; and one is cut off. */
	read_at(WIRE_COUNTS_RUNNING, false, now);
	other.n = 2;
	other.items[0].results = 1;
	must(results__add(&r, &lib, RESULTS_NO_LOADS, &other, &lost));
	assert_given(false, "10=7+ 11=1+ 12=0+ 13=0+");
}

/* However often it is read and shown, nothing counts twice. */
CASE(a_reading_replaces_the_one_before)
{
	static const struct wire_count now[N] = {{1, 0, 0}, {7, 1, 0}, {0}, {0}};

	assert_shown("");
	for (int i = 0; i < 3; i++) {
		read_at(WIRE_COUNTS_RUNNING, false, now);
		assert_shown("10=1+ 11=1+");
	}
	read_at(WIRE_COUNTS_RUNNING, false, counts);
	assert_shown("10=7+ 11=3+ 12=5?4+ 13=1+");
	/* What is read last, when the context is dropped, replaces it once more. */
	read_at(WIRE_COUNTS_DROPPED, false, counts);
	drop();
	assert_shown("10=7 11=3 12=5?4 13=1");
	/* The next context of the process is not that one. */
	read_at(WIRE_COUNTS_RUNNING, false, now);
	assert_shown("10=8+ 11=4+ 12=5?4+ 13=1+");
	assert_given(false, "10=8+ 11=4+ 12=5?4+ 13=1+");
	assert_shown("");
}

CASE(records_that_make_no_sense_are_refused)
{
	static const struct {
		uint8_t moment;
		uint32_t first, n, of;
		const struct wire_count *items;
	} bad[] = {
		{0, 0, N, N, counts},
		{WIRE_COUNTS_RUNNING + 1, 0, N, N, counts},
		{WIRE_COUNTS_DYING, 0, 0, N, NULL},
		{WIRE_COUNTS_DYING, 0, N + 1, N + 1, NULL},
		{WIRE_COUNTS_DYING, N, 1, N, NULL},
		{WIRE_COUNTS_DYING, 2, 3, N, NULL},
		{WIRE_COUNTS_DYING, 0, WIRE_COUNTS_MAX + 1, N, NULL},
	};

	for (size_t i = 0; i < N_OF(bad); i++)
		if (add(bad[i].moment, false, bad[i].first, bad[i].n, bad[i].of, bad[i].items) !=
		    -EBADMSG)
			fail_msg("record %zu was taken", i);
	assert_given(false, "");
}

TEST_MAIN(NULL, NULL)
