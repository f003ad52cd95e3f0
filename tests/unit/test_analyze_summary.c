// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/summary.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../fixtures/spans.h"

#define N_PROCESSES 4
#define N_LABELS    40

static struct summary *new_summary(void)
{
	struct summary *s = NULL;

	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		const struct trace_process p = {.index = i, .pid = 100 + i, .command = "rustc"};

		assert_int_equal(summary__process(s, &p), 0);
	}
	return s;
}

/* The same sums by walking all spans once per row. */
static struct summary_row naive_row(const struct spans *spans, uint32_t process, uint32_t label)
{
	struct summary_row row = {.label = label, .min_ns = UINT64_MAX};

	for (uint32_t i = 0; i < spans->n; i++) {
		const struct trace_span *s = &spans->at[i];
		uint64_t duration = s->end_ns - s->start_ns;

		if (s->label != label || (process != SUMMARY_ALL && s->process != process))
			continue;
		row.count++;
		row.unwound += s->flags != 0;
		row.total_ns += duration;
		row.self_ns += s->self_ns;
		row.max_ns = duration > row.max_ns ? duration : row.max_ns;
		row.min_ns = duration < row.min_ns ? duration : row.min_ns;
	}
	return row;
}

/* Field by field: the padding of a row is anything. */
static void assert_row(const struct summary_row *got, const struct summary_row *want)
{
	assert_int_equal(got->label, want->label);
	assert_int_equal(got->count, want->count);
	assert_int_equal(got->unwound, want->unwound);
	assert_int_equal(got->total_ns, want->total_ns);
	assert_int_equal(got->self_ns, want->self_ns);
	assert_int_equal(got->max_ns, want->max_ns);
	assert_int_equal(got->min_ns, want->min_ns);
}

static void assert_rows(const struct summary *s, const struct spans *spans, uint32_t process)
{
	_free_ struct summary_row *rows = NULL;
	size_t n, expected = 0;

	assert_int_equal(summary__rows(s, process, &rows, &n), 0);
	for (uint32_t label = 0; label < N_LABELS; label++)
		expected += naive_row(spans, process, label).count > 0;
	assert_int_equal(n, expected);
	for (size_t i = 0; i < n; i++) {
		struct summary_row want = naive_row(spans, process, rows[i].label);

		assert_row(&rows[i], &want);
		if (i)
			assert_true(rows[i - 1].self_ns > rows[i].self_ns ||
				    (rows[i - 1].self_ns == rows[i].self_ns &&
				     rows[i - 1].label < rows[i].label));
	}
}

static void sums_agree_with_a_naive_model(void **state)
{
	struct rng rng = rng_new();
	_free_ struct spans *spans = spans_new(&rng, 10000, N_PROCESSES, N_LABELS);

	(void)state;
	for (int compute_self = 0; compute_self < 2; compute_self++) {
		_summary_ struct summary *s = new_summary();

		for (uint32_t i = 0; i < spans->n; i++) {
			struct trace_span span = spans->at[i];

			span.self_ns = compute_self ? 0 : span.self_ns;
			assert_int_equal(summary__span(s, &span, compute_self), 0);
		}
		assert_int_equal(summary__spans(s), spans->n);
		for (uint32_t p = 0; p < N_PROCESSES; p++)
			assert_rows(s, spans, p);
		assert_rows(s, spans, SUMMARY_ALL);
	}
}

static void processes_are_copied_and_updated(void **state)
{
	_summary_ struct summary *s = new_summary();
	char crate[] = "a";
	struct trace_process p = {.index = 2, .end_ns = 9, .crate = crate};

	(void)state;
	assert_int_equal(summary__process(s, &p), 0);
	crate[0] = 'X';
	assert_int_equal(summary__n_processes(s), N_PROCESSES);
	assert_string_equal(summary__process_at(s, 2)->crate, "a");
	assert_int_equal(summary__process_at(s, 2)->end_ns, 9);
	assert_null(summary__process_at(s, 2)->command);
	assert_null(summary__process_at(s, N_PROCESSES));
}

static void what_was_not_announced_is_refused(void **state)
{
	_summary_ struct summary *s = new_summary();
	const struct trace_process gap = {.index = N_PROCESSES + 1};
	const struct trace_span stranger = {.process = N_PROCESSES, .end_ns = 1};
	const struct trace_span backwards = {.start_ns = 2, .end_ns = 1};
	struct summary_row *rows = NULL;
	size_t n;

	(void)state;
	assert_int_equal(summary__process(s, &gap), -EINVAL);
	assert_int_equal(summary__span(s, &stranger, false), -EINVAL);
	assert_int_equal(summary__span(s, &backwards, true), -EINVAL);
	assert_int_equal(summary__spans(s), 0);
	assert_int_equal(summary__rows(s, N_PROCESSES, &rows, &n), -EINVAL);
}

static void nothing_sums_to_no_rows(void **state)
{
	_summary_ struct summary *s = new_summary();
	_free_ struct summary_row *rows = NULL;
	size_t n = 1;

	(void)state;
	assert_int_equal(summary__rows(s, SUMMARY_ALL, &rows, &n), 0);
	assert_non_null(rows);
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_agree_with_a_naive_model),
		cmocka_unit_test(processes_are_copied_and_updated),
		cmocka_unit_test(what_was_not_announced_is_refused),
		cmocka_unit_test(nothing_sums_to_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
