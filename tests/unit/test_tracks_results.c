// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/results.h"

#include "test.h"
#include "base/array.h"

#define N 4

/* Of which the first may not be fed, all local ones of the second are, and some of the third may.
 */
static uint8_t fed[N] = {PLAN_FED_NOT, PLAN_FED_LOCAL, PLAN_FED_SOME, PLAN_FED_NOT};
static uint32_t labels[N] = {10, 11, 12, 13};
static struct library lib = {.labels = labels, .n_labels = N, .fed = fed};

struct got {
	struct trace_tally tallies[N];
	uint32_t n;
};

static int on_tally(void *ctx, const struct trace_tally *t)
{
	struct got *got = ctx;

	assert_in_range(got->n, 0, N - 1);
	got->tallies[got->n++] = *t;
	return 0;
}

static int add(struct results *r, uint8_t moment, bool incremental, uint32_t first, uint32_t n,
	       uint32_t of, const struct wire_count *items)
{
	struct wire_counts c = {.moment = moment, .first = first, .n = n, .of = of};

	if (items && n <= N)
		memcpy(c.items, items, n * sizeof(*items));
	return results__add(r, &lib, incremental, &c);
}

static struct got give(struct results *r, bool incremental)
{
	struct got got = {0};
	const struct tracks_sink sink = {.ctx = &got, .tally = on_tally};

	assert_int_equal(results__give(r, &lib, incremental, &sink, 3), 0);
	return got;
}

static void assert_tally(const struct got *got, uint32_t i, uint32_t label, uint64_t events,
			 uint64_t sum)
{
	assert_in_range(i + 1, 1, got->n);
	assert_int_equal(got->tallies[i].process, 3);
	assert_int_equal(got->tallies[i].kind, TRACE_KIND_RESULTS);
	assert_int_equal(got->tallies[i].label, label);
	assert_int_equal(got->tallies[i].events, events);
	assert_int_equal(got->tallies[i].sum, sum);
}

static const struct wire_count counts[N] = {{5, 2, 0}, {7, 3, 0}, {4, 1, 0}, {0, 0, 1}};

static void fed_results_are_no_executions(void **state)
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

/* What comes when the context is dropped is worse, unless nothing came before. */
static void the_first_reading_of_a_context_counts(void **state)
{
	static const struct wire_count later[N] = {{50, 0, 0}, {0}, {0}, {0}};
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, true, 0, N, N, counts), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, true, 0, N, N, later), 0);
	/* The next context of the process is dropped after an error. */
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, later), 0);
	got = give(&r, true);
	assert_tally(&got, 0, 10, 57, 0);
}

static void loads_are_no_executions(void **state)
{
	struct results r = {0};
	struct got got;

	for (int i = 0; i < 6; i++)
		assert_int_equal(results__load(&r, &lib, 0), 0);
	assert_int_equal(results__load(&r, &lib, N), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_FINISHED, true, 0, N, N, counts), 0);
	/* These come too late to be in it. */
	assert_int_equal(results__load(&r, &lib, 0), 0);
	assert_int_equal(results__load(&r, &lib, 3), 0);
	got = give(&r, true);
	assert_tally(&got, 0, 10, 7, 6);
	assert_tally(&got, 3, 13, 1, 0);
}

/* Results have come from the disk that no interval shows. */
static void an_incremental_compile_that_failed_is_unsure(void **state)
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

static void a_reading_of_several_records_must_be_whole(void **state)
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

static void an_unknown_number_stays_unknown(void **state)
{
	static const struct wire_count unknown[N] = {{WIRE_NO_COUNT, 0, 0}, {0}, {0}, {2, 0, 0}};
	struct results r = {0};
	struct got got;

	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, unknown), 0);
	assert_int_equal(add(&r, WIRE_COUNTS_DROPPED, false, 0, N, N, counts), 0);
	got = give(&r, false);
	assert_tally(&got, 0, 11, 3, 0);
	assert_tally(&got, 2, 13, 3, 0);
	assert_int_equal(got.n, 3);
}

static void records_that_make_no_sense_are_refused(void **state)
{
	struct results r = {0};

	assert_int_equal(add(&r, 0, false, 0, N, N, counts), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING + 1, false, 0, N, N, counts), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, 0, N, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, N + 1, N + 1, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, N, 1, N, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 2, 3, N, NULL), -EBADMSG);
	assert_int_equal(add(&r, WIRE_COUNTS_DYING, false, 0, WIRE_COUNTS_MAX + 1, N, NULL),
			 -EBADMSG);
	assert_int_equal(give(&r, false).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fed_results_are_no_executions),
		cmocka_unit_test(the_first_reading_of_a_context_counts),
		cmocka_unit_test(loads_are_no_executions),
		cmocka_unit_test(an_incremental_compile_that_failed_is_unsure),
		cmocka_unit_test(a_reading_of_several_records_must_be_whole),
		cmocka_unit_test(an_unknown_number_stays_unknown),
		cmocka_unit_test(records_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
