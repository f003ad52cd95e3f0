// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/batch_summary.h"

#include "test.h"
#include "../fixtures/spans.h"

static void sets_are_sorted_and_complete(void **state)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 4000, 7, 300);
	struct batch_summer summer = {0};
	const struct batch_summary *sum = &summer.summary;

	for (uint32_t at = 0; at + 1000 <= s->n; at += 1000) {
		bool labels[300] = {false}, processes[7] = {false};
		uint64_t start = UINT64_MAX, end = 0;

		assert_int_equal(batch_summer__sum(&summer, s->at + at, 1000, 300), 0);
		for (uint32_t i = at; i < at + 1000; i++) {
			labels[s->at[i].label] = processes[s->at[i].process] = true;
			start = s->at[i].start_ns < start ? s->at[i].start_ns : start;
			end = s->at[i].end_ns > end ? s->at[i].end_ns : end;
		}
		assert_int_equal(sum->n, 1000);
		assert_int_equal(sum->start_ns, start);
		assert_int_equal(sum->end_ns, end);
		for (uint32_t i = 0, k = 0; i < 300; i++)
			if (labels[i])
				assert_int_equal(sum->labels[k++], i);
		for (uint32_t i = 0, k = 0; i < 7; i++)
			if (processes[i])
				assert_int_equal(sum->processes[k++], i);
	}
	batch_summer__destroy(&summer);
}

static void a_list_that_would_be_incomplete_is_left_empty(void **state)
{
	_free_ struct trace_span *s = calloc(2000, sizeof(*s));
	struct batch_summer summer = {0};
	const struct batch_summary *sum = &summer.summary;

	for (uint32_t i = 0; i < 2000; i++) {
		s[i].label = i;
		s[i].process = i;
	}
	assert_int_equal(batch_summer__sum(&summer, s, QPT_INDEX_PROCESSES, 2000), 0);
	assert_int_equal(sum->n_processes, QPT_INDEX_PROCESSES);
	assert_int_equal(batch_summer__sum(&summer, s, QPT_INDEX_LABELS, 2000), 0);
	assert_int_equal(sum->n_processes, 0);
	assert_int_equal(sum->n_labels, QPT_INDEX_LABELS);
	assert_int_equal(batch_summer__sum(&summer, s, QPT_INDEX_LABELS + 1, 2000), 0);
	assert_int_equal(sum->n_labels, 0);
	s[0].label = TRACE_VIRTUAL | 5;
	assert_int_equal(batch_summer__sum(&summer, s, 10, 2000), 0);
	assert_int_equal(sum->n_labels, 0);
	batch_summer__destroy(&summer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_sorted_and_complete),
		cmocka_unit_test(a_list_that_would_be_incomplete_is_left_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
