// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/verdict.h"

#include "test.h"
#include "../fixtures/sample_summary.h"

/* A summary of `n` compiles without intervals. */
static struct summary *compiled(uint32_t n)
{
	struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; i < n; i++)
		sample_process(s, i, (char *)"serde", 0);
	return s;
}

static void add_spans(struct summary *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sample_span(s, 0, SAMPLE_TYPECK, 10, 10, 0);
}

static struct verdict verdict_with(enum trace_loss loss, uint64_t lost, uint64_t hits,
				   unsigned int spans)
{
	_summary_ struct summary *s = compiled(1);
	struct trace_losses l = {.count = {[TRACE_COUNT_HITS] = hits}};

	l.count[loss] = lost;
	add_spans(s, spans);
	return verdict_of(s, &l);
}

static void most_is_more_than_half(void **state)
{
	assert_false(verdict_is_most(0, 0));
	assert_false(verdict_is_most(1, 2));
	assert_true(verdict_is_most(2, 3));
	assert_true(verdict_is_most(1, 1));
	assert_int_equal(verdict_with(TRACE_LOST_RING_FULL, 10, 40, 10).state, VERDICT_SOUND);
	assert_int_equal(verdict_with(TRACE_LOST_RING_FULL, 11, 42, 10).state,
			 VERDICT_LOST_INTERVALS);
	assert_int_equal(verdict_with(TRACE_LOST_NO_STORAGE, 20, 40, 10).state, VERDICT_SOUND);
	assert_int_equal(verdict_with(TRACE_LOST_NO_STORAGE, 21, 41, 10).state, VERDICT_LOST_HITS);
}

static void the_cause_and_the_share_are_reported(void **state)
{
	struct verdict v = verdict_with(TRACE_LOST_NO_STORAGE, 916, 916, 0);

	assert_int_equal(v.state, VERDICT_LOST_HITS);
	assert_int_equal(v.cause, TRACE_LOST_NO_STORAGE);
	assert_int_equal(v.lost, 916);
	assert_int_equal(v.of, 916);
	/* The count of hits does not include hits lost to recursion. */
	v = verdict_with(TRACE_LOST_RECURSION, 30, 20, 10);
	assert_int_equal(v.state, VERDICT_LOST_HITS);
	assert_int_equal(v.of, 50);
	v = verdict_with(TRACE_LOST_STACK_FULL, 90, 200, 10);
	assert_int_equal(v.state, VERDICT_LOST_INTERVALS);
	assert_int_equal(v.cause, TRACE_LOST_STACK_FULL);
	assert_int_equal(v.of, 100);
}

/* A third of the hits, and two fifths of the records of the others, are lost: 60 % in all. */
static void several_causes_count_together(void **state)
{
	_summary_ struct summary *s = compiled(1);
	struct trace_losses l = {.count = {[TRACE_COUNT_HITS] = 300,
					   [TRACE_LOST_NO_STORAGE] = 100,
					   [TRACE_LOST_BAD_RECORD] = 15,
					   [TRACE_LOST_RING_FULL] = 25}};
	struct verdict v;

	add_spans(s, 60);
	v = verdict_of(s, &l);
	assert_int_equal(v.state, VERDICT_LOST_INTERVALS);
	assert_int_equal(v.cause, TRACE_LOST_RING_FULL);
	assert_int_equal(v.lost, 40);
	l.count[TRACE_LOST_NO_STORAGE] = 0;
	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
}

static void compilers_may_be_lost(void **state)
{
	_summary_ struct summary *s = sample_three();
	struct trace_losses l = {.count = {[TRACE_LOST_COMPILERS] = 3}};
	struct verdict v;

	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
	l.count[TRACE_LOST_COMPILERS] = 4;
	v = verdict_of(s, &l);
	assert_int_equal(v.state, VERDICT_LOST_COMPILERS);
	assert_int_equal(v.lost, 4);
	assert_int_equal(v.of, 7);
}

/* Linkers and the like are in the trace too, and so are compilers of which it has nothing else. */
static void what_is_lost_is_a_part_of_the_compilers(void **state)
{
	_summary_ struct summary *s = compiled(0);
	struct trace_losses l = {.count = {[TRACE_LOST_COMPILERS] = 2}};
	struct verdict v;

	for (uint32_t i = 0; i < 9; i++) {
		const struct trace_process p = {.index = i,
						.crate = i < 3 ? (char *)"serde" : NULL,
						.attached_late = i < 3};

		assert_int_equal(summary__process(s, &p), 0);
	}
	sample_span(s, 0, SAMPLE_TYPECK, 10, 10, 0);
	v = verdict_of(s, &l);
	assert_int_equal(v.state, VERDICT_LOST_COMPILERS);
	assert_int_equal(v.lost, 2);
	assert_int_equal(v.of, 3);
	assert_int_equal(summary__sample(s, &(struct trace_sample){.process = 1}), 0);
	l.count[TRACE_LOST_COMPILERS] = 1;
	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
}

static struct verdict without_compilers(uint64_t mappings, char *crate, int32_t status)
{
	const struct trace_losses l = {.count = {[TRACE_LOST_MAPPINGS] = mappings}};
	_summary_ struct summary *s = compiled(0);

	sample_process(s, 0, crate, status);
	return verdict_of(s, &l);
}

/* A lost mapping may be a compiler's: "no compiler ran" must not look like "none was seen". */
static void no_compiler_and_a_lost_mapping_is_no_sound_recording(void **state)
{
	const struct trace_losses one = {.count = {[TRACE_LOST_MAPPINGS] = 1}};
	_summary_ struct summary *nothing = compiled(0);
	struct verdict v = verdict_of(nothing, &one);

	assert_int_equal(v.state, VERDICT_LOST_MAPPINGS);
	assert_int_equal(v.cause, TRACE_LOST_MAPPINGS);
	assert_int_equal(v.lost, 1);
	/* A process without a crate is no compiler. */
	assert_int_equal(without_compilers(1, NULL, 0).state, VERDICT_LOST_MAPPINGS);
	assert_int_equal(without_compilers(0, NULL, 0).state, VERDICT_SOUND);
	/* Compilers were seen: a failed one, and a running one. */
	assert_int_equal(without_compilers(1, (char *)"serde", 1 << 8).state, VERDICT_SOUND);
	assert_int_equal(without_compilers(1, (char *)"serde", TRACE_EXIT_UNKNOWN).state,
			 VERDICT_SOUND);
	assert_int_equal(verdict_with(TRACE_LOST_MAPPINGS, 1000, 2, 1).state, VERDICT_SOUND);
}

static void a_compilation_without_an_interval_is_nothing(void **state)
{
	_summary_ struct summary *s = compiled(3);
	struct trace_losses l = {.count = {[TRACE_COUNT_HITS] = 7}};
	struct verdict v = verdict_of(s, &l);

	assert_int_equal(v.state, VERDICT_NOTHING);
	assert_int_equal(v.compiles, 3);
	assert_int_equal(v.late, 1);
	assert_int_equal(v.hits, 7);
	assert_int_equal(verdict_of(s, NULL).state, VERDICT_NOTHING);
	/* Samples need no interval. */
	summary__set_sampled(s);
	assert_int_equal(verdict_of(s, NULL).state, VERDICT_SOUND);
	add_spans(s, 1);
	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
}

/* One compiler failed, one still runs, and one has no crate. */
static void others_need_not_execute_a_query(void **state)
{
	_summary_ struct summary *s = compiled(0);

	sample_process(s, 0, (char *)"serde", 1 << 8);
	sample_process(s, 1, (char *)"serde", TRACE_EXIT_UNKNOWN);
	sample_process(s, 2, NULL, 0);
	assert_int_equal(verdict_of(s, NULL).state, VERDICT_SOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_is_more_than_half),
		cmocka_unit_test(the_cause_and_the_share_are_reported),
		cmocka_unit_test(several_causes_count_together),
		cmocka_unit_test(compilers_may_be_lost),
		cmocka_unit_test(what_is_lost_is_a_part_of_the_compilers),
		cmocka_unit_test(no_compiler_and_a_lost_mapping_is_no_sound_recording),
		cmocka_unit_test(a_compilation_without_an_interval_is_nothing),
		cmocka_unit_test(others_need_not_execute_a_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
