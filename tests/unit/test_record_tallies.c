// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/tallies.h"

#include "test.h"

static void add(struct tallies *u, uint32_t process, uint32_t label, uint8_t kind, uint64_t events,
		uint64_t sum)
{
	const struct trace_tally more = {
		.process = process, .label = label, .kind = kind, .events = events, .sum = sum};

	assert_int_equal(tallies__add(u, &more), 0);
}

static void assert_tally(const struct trace_tally *t, uint32_t process, uint32_t label,
			 uint8_t kind, uint64_t events, uint64_t sum)
{
	assert_int_equal(t->process, process);
	assert_int_equal(t->label, label);
	assert_int_equal(t->kind, kind);
	assert_int_equal(t->events, events);
	assert_int_equal(t->sum, sum);
}

static void each_process_label_and_kind_is_summed_up_alone(void **state)
{
	struct tallies u = {0};

	add(&u, 1, 7, TRACE_KIND_COUNTED, 4, 0);
	add(&u, 1, 7, TRACE_KIND_ESTIMATED, 10, 500);
	add(&u, 2, 7, TRACE_KIND_COUNTED, 1, 0);
	add(&u, 1, 8, TRACE_KIND_COUNTED, 2, 0);
	add(&u, 1, 7, TRACE_KIND_COUNTED, 5, 0);
	add(&u, 1, 7, TRACE_KIND_ESTIMATED, 1, 50);
	assert_int_equal(u.of.n, 4);
	assert_tally(&u.of.at[0], 1, 7, TRACE_KIND_COUNTED, 9, 0);
	assert_tally(&u.of.at[1], 1, 7, TRACE_KIND_ESTIMATED, 11, 550);
	assert_tally(&u.of.at[2], 2, 7, TRACE_KIND_COUNTED, 1, 0);
	assert_tally(&u.of.at[3], 1, 8, TRACE_KIND_COUNTED, 2, 0);
	tallies__clear(&u);
	assert_int_equal(u.of.n, 0);
}

/* An estimate of 0 is information, too: the trace must store it. */
static void an_estimate_of_none_is_kept(void **state)
{
	struct tallies u = {0};

	add(&u, 1, 7, TRACE_KIND_ESTIMATED, 0, 0);
	assert_int_equal(u.of.n, 1);
	tallies__clear(&u);
}

static int take(void *ctx, const struct trace_tally *t)
{
	uint64_t *events = ctx;

	*events += t->events;
	return t->label == 9 ? -ENOSPC : 0;
}

static void the_tallies_of_a_process_are_taken_out(void **state)
{
	struct tallies u = {0};
	uint64_t events = 0;

	add(&u, 1, 7, TRACE_KIND_COUNTED, 4, 0);
	add(&u, 2, 7, TRACE_KIND_ESTIMATED, 10, 500);
	add(&u, 1, 9, TRACE_KIND_COUNTED, 20, 0);
	add(&u, 1, 8, TRACE_KIND_COUNTED, 100, 0);
	assert_int_equal(tallies__take(&u, 1, take, &events), -ENOSPC);
	assert_int_equal(events, 124);
	/* The remaining tally is still found by its key. */
	add(&u, 2, 7, TRACE_KIND_ESTIMATED, 1, 50);
	assert_int_equal(u.of.n, 1);
	assert_tally(&u.of.at[0], 2, 7, TRACE_KIND_ESTIMATED, 11, 550);
	assert_int_equal(tallies__take(&u, UINT32_MAX, take, &events), 0);
	assert_int_equal(events, 135);
	assert_int_equal(u.of.n, 0);
	tallies__clear(&u);
}

static void other_kinds_are_refused(void **state)
{
	const struct trace_tally hits = {.kind = TRACE_KIND_HIT_COUNT};
	struct tallies u = {0};

	assert_int_equal(tallies__add(&u, &hits), -EBADMSG);
	assert_int_equal(u.of.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_label_and_kind_is_summed_up_alone),
		cmocka_unit_test(an_estimate_of_none_is_kept),
		cmocka_unit_test(the_tallies_of_a_process_are_taken_out),
		cmocka_unit_test(other_kinds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
