// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/summary.h"

#include "test.h"
#include "../fixtures/computed.h"
#include "../fixtures/spans.h"

static const struct trace_times none;

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

/* The same sums, by walking all spans once per row. */
static struct summary_row naive_row(const struct spans *spans, uint32_t process, uint32_t label)
{
	struct summary_row row = {.label = label, .min_ns = UINT64_MAX};

	for (uint32_t i = 0; i < spans->n; i++) {
		const struct trace_span *s = &spans->at[i];
		uint64_t duration = s->end_ns - s->start_ns;

		if (s->label != label || (process != SUMMARY_ALL && s->process != process))
			continue;
		row.count++;
		row.unwound += (s->flags & (TRACE_SPAN_UNWOUND | TRACE_SPAN_OPEN)) != 0;
		row.total_ns += duration;
		row.self_ns += spans->self_ns[i];
		row.max_ns = duration > row.max_ns ? duration : row.max_ns;
		row.min_ns = duration < row.min_ns ? duration : row.min_ns;
	}
	return row;
}

/* Compare the fields; the padding of a row is undefined. */
static void assert_row(const struct summary_row *got, const struct summary_row *want)
{
	assert_struct(*got, label, want->label, count, want->count, unwound, want->unwound,
		      total_ns, want->total_ns, self_ns, want->self_ns, max_ns, want->max_ns,
		      min_ns, want->min_ns);
}

/* Expect `n` rows. The caller frees them. */
static struct summary_row *rows_of(const struct summary *s, uint32_t process, size_t n)
{
	struct summary_row *rows = NULL;
	size_t got = n + 1;

	assert_int_equal(summary__rows(s, process, &rows, &got), 0);
	assert_int_equal(got, n);
	return rows;
}

static void assert_rows(const struct summary *s, const struct spans *spans, uint32_t process)
{
	_free_ struct summary_row *rows = NULL;
	size_t n = 0;

	for (uint32_t label = 0; label < N_LABELS; label++)
		n += naive_row(spans, process, label).count > 0;
	rows = rows_of(s, process, n);
	for (size_t i = 0; i < n; i++) {
		struct summary_row want = naive_row(spans, process, rows[i].label);

		assert_row(&rows[i], &want);
		if (i)
			assert_true(rows[i - 1].self_ns > rows[i].self_ns ||
				    (rows[i - 1].self_ns == rows[i].self_ns &&
				     rows[i - 1].label < rows[i].label));
	}
}

TEST_CASE(sums_agree_with_a_naive_model)
{
	struct rng rng = rng_new();
	_free_ struct spans *spans = spans_new(&rng, 10000, N_PROCESSES, N_LABELS);

	for (int compute_self = 0; compute_self < 2; compute_self++) {
		_summary_ struct summary *s = new_summary();
		_self_time_ struct self_time *st = computed_new();

		for (uint32_t i = 0; i < spans->n; i++) {
			const struct trace_span *span = &spans->at[i];
			const struct trace_times known = {.self_ns = spans->self_ns[i]};

			assert_int_equal(compute_self ? computed_span(s, st, span)
						      : summary__span(s, span, &known),
					 0);
		}
		assert_int_equal(summary__spans(s), spans->n);
		for (uint32_t p = 0; p < N_PROCESSES; p++)
			assert_rows(s, spans, p);
		assert_rows(s, spans, SUMMARY_ALL);
	}
}

#define CASE(name) TEST_CASE_GIVEN(name, NULL, NULL, _summary_ struct summary *, s, new_summary())

CASE(processes_are_copied_and_updated)
{
	char crate[] = "a";
	struct trace_process p = {.index = 2, .end_ns = 9, .crate = crate};

	assert_int_equal(summary__process(s, &p), 0);
	crate[0] = 'X';
	assert_int_equal(summary__n_processes(s), N_PROCESSES);
	assert_struct(*summary__process_at(s, 2), crate, "a", end_ns, 9, command, NULL);
	assert_null(summary__process_at(s, N_PROCESSES));
}

TEST_CASE(borrowed_texts_are_not_copied)
{
	_summary_ struct summary *s = NULL;
	char crate[] = "a";
	const struct trace_process p = {.crate = crate, .command = crate};

	assert_int_equal(summary__new(&s), 0);
	summary__borrow_texts(s);
	must(summary__process(s, &p), summary__process(s, &p));
	assert_ptr_equal(summary__process_at(s, 0)->crate, crate);
	assert_ptr_equal(summary__process_at(s, 0)->command, crate);
}

CASE(invalid_records_are_refused)
{
	const struct trace_process gap = {.index = N_PROCESSES + 1};
	const struct trace_span stranger = {.process = N_PROCESSES, .end_ns = 1};
	const struct trace_span backwards = {.start_ns = 2, .end_ns = 1};
	struct summary_row *rows = NULL;
	size_t n;

	assert_int_equal(summary__process(s, &gap), -EINVAL);
	assert_int_equal(summary__span(s, &stranger, &none), -EINVAL);
	assert_int_equal(summary__span(s, &backwards, &none), -EINVAL);
	assert_int_equal(summary__spans(s), 0);
	assert_int_equal(summary__rows(s, N_PROCESSES, &rows, &n), -EINVAL);
}

CASE(nothing_sums_to_no_rows)
{
	_free_ struct summary_row *rows = rows_of(s, SUMMARY_ALL, 0);

	assert_non_null(rows);
}

static struct summary_counts counts;

/* The rules of measureme's summarize, on intervals of all kinds and a tally of hits. */
CASE(kinds_add_up_as_summarize_does)
{
	static const struct {
		uint8_t kind;
		uint64_t start, end;
		uint16_t depth;
	} events[] = {
		{TRACE_KIND_HASHING, 10, 13, 1},  {TRACE_KIND_QUERY, 0, 20, 0},
		{TRACE_KIND_BLOCKED, 20, 60, 0},  {TRACE_KIND_ACTIVITY, 65, 66, 1},
		{TRACE_KIND_LOAD, 60, 70, 0},	  {TRACE_KIND_ACTIVITY, 70, 170, 0},
		{TRACE_KIND_OTHER, 170, 1170, 0}, {TRACE_KIND_HIT, 1170, 1170, 0},
	};
	const struct trace_tally hits = {.kind = TRACE_KIND_HIT_COUNT, .events = 2, .sum = 12};
	const struct trace_tally size = {.kind = TRACE_KIND_ARTIFACT_SIZE, .label = 9, .sum = 77};
	const struct trace_tally nobody = {.process = N_PROCESSES};
	_self_time_ struct self_time *st = computed_new();
	_free_ struct summary_row *rows = NULL;
	size_t n;

	for (size_t i = 0; i < N_OF(events); i++) {
		const struct trace_span span = {.kind = events[i].kind,
						.start_ns = events[i].start,
						.end_ns = events[i].end,
						.depth = events[i].depth};

		assert_int_equal(computed_span(s, st, &span), 0);
	}
	must(summary__tally(s, &hits), summary__tally(s, &size));
	assert_int_equal(summary__tally(s, &nobody), -EINVAL);
	rows = rows_of(s, SUMMARY_ALL, 2);
	assert_int_equal(summary__counts(s, SUMMARY_ALL, &counts), 0);
	assert_struct(counts, queries, 1, activities, 3);
	assert_struct(rows[0], is_activity, true, count, 3, total_ns, 1 + 100 + 1000, self_ns,
		      1 + 100 + 1000, max_ns, 1000, min_ns, 1);
	assert_int_equal(summary_row__mean_ns(&rows[0]), (1 + 100 + 1000) / 3);
	assert_struct(rows[1], is_activity, false, count, 1, total_ns, 20 + 40 + 10, self_ns,
		      20 + 40 + 9, hits, 12 + 1, blocked_ns, 40, load_ns, 9, hashing_ns, 3);
	assert_int_equal(summary__tallies(s, &n)->sum, 77);
	assert_int_equal(n, 1);
}

CASE(off_cpu_is_a_part_and_no_row)
{
	static const struct trace_span spans[] = {
		{.start_ns = 20, .end_ns = 30, .depth = 2, .kind = TRACE_KIND_OFF_CPU, .label = 3},
		{.start_ns = 10, .end_ns = 40, .depth = 1, .label = 1},
		{.start_ns = 50, .end_ns = 55, .depth = 1, .kind = TRACE_KIND_OFF_CPU, .label = 3},
		{.start_ns = 0, .end_ns = 100, .label = 2},
		{.start_ns = 100, .end_ns = 200, .kind = TRACE_KIND_OFF_CPU, .label = 3},
	};
	_self_time_ struct self_time *st = computed_new();
	_free_ struct summary_row *rows = NULL;

	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(computed_span(s, st, &spans[i]), 0);
	rows = rows_of(s, SUMMARY_ALL, 2);
	assert_int_equal(summary__spans(s), 2);
	assert_struct(rows[0], label, 2, self_ns, 70, self_off_ns, 5, off_ns, 15);
	assert_struct(rows[1], self_ns, 30, self_off_ns, 10);
	assert_int_equal(rows[0].best_cpu_ns, 65);
	assert_int_equal(rows[1].best_cpu_ns, 20);
}

/* A thread that only waits has self time too, and that is no work. */
CASE(rows_are_ordered_by_time_on_the_cpu)
{
	static const struct {
		uint32_t label;
		struct trace_times times;
	} spans[] = {
		{1, {.self_ns = 80, .self_off_ns = 79}},
		{2, {.self_ns = 30, .self_off_ns = 10}},
		{3, {.self_ns = 60, .self_off_ns = 45}},
	};
	_free_ struct summary_row *rows = NULL;

	for (size_t i = 0; i < N_OF(spans); i++) {
		const struct trace_span span = {.label = spans[i].label, .end_ns = 100};

		assert_int_equal(summary__span(s, &span, &spans[i].times), 0);
	}
	rows = rows_of(s, SUMMARY_ALL, 3);
	assert_int_equal(rows[0].label, 2);
	assert_int_equal(rows[1].label, 3);
	assert_struct(rows[2], label, 1, best_cpu_ns, 1, best_self_ns, 80);
}

/* Where a process has less self time than time off the CPU, another one has no less on it. */
CASE(time_on_the_cpu_is_that_of_each_process)
{
	static const struct trace_times times[] = {{.self_ns = 80, .self_off_ns = 10},
						   {.self_ns = 20, .self_off_ns = 50}};
	_free_ struct summary_row *rows = NULL;

	for (uint32_t i = 0; i < N_OF(times); i++) {
		const struct trace_span span = {.label = 1, .process = i, .end_ns = 100};

		assert_int_equal(summary__span(s, &span, &times[i]), 0);
	}
	rows = rows_of(s, SUMMARY_ALL, 1);
	assert_struct(rows[0], self_cpu_ns, 70, best_cpu_ns, 70);
}

/* A hit costs 10 ns. Of the 20 ns for a span, 12 ns lie inside it and 8 ns in its parent. */
CASE(probes_are_taken_off_sums)
{
	static const struct trace_costs costs = {
		.ps = {[TRACE_COST_EMULATED] = 10000, [TRACE_COST_EMULATED_INSIDE] = 12000}};
	static const struct trace_span spans[] = {
		{.label = 1, .depth = 1, .start_ns = 110, .end_ns = 115}, /* shorter than probes */
		{.label = 1, .depth = 1, .start_ns = 150, .end_ns = 190},
		{.label = 2, .depth = 0, .start_ns = 100, .end_ns = 300},
		{.label = 3, .depth = 0, .start_ns = 400, .end_ns = 407},
	};
	_self_time_ struct self_time *st = computed_new();
	_free_ struct summary_row *rows = NULL;

	self_time__set_costs(st, &costs);
	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(computed_span(s, st, &spans[i]), 0);
	rows = rows_of(s, SUMMARY_ALL, 3);
	assert_struct(rows[0], label, 2, raw_total_ns, 200, total_ns, 200 - 12 - 2 * 20, max_ns,
		      200 - 12 - 2 * 20, raw_self_ns, 200 - 45, self_ns, 200 - 45 - 12 - 2 * 8);
	/* Not 28: the first span contributes 5 - 12 ns, and is not clamped by itself. */
	assert_struct(rows[1], self_ns, 45 - 2 * 12, min_ns, 0, clamped, 0);
	assert_struct(rows[2], self_ns, 0, raw_self_ns, 7, clamped, 1);
}

CASE(a_query_with_only_cache_hits_has_a_row)
{
	const struct trace_tally hits = {.kind = TRACE_KIND_HIT_COUNT, .process = 1, .sum = 12};
	const struct trace_span span = {.process = 2, .start_ns = 5, .end_ns = 9};
	_self_time_ struct self_time *st = computed_new();
	_free_ struct summary_row *rows = NULL;

	must(summary__tally(s, &hits), computed_span(s, st, &span));
	rows = rows_of(s, SUMMARY_ALL, 1);
	assert_struct(*rows, hits, 12, count, 1, min_ns, 4);
	free(rows);
	rows = rows_of(s, 1, 1);
	assert_int_equal(rows->min_ns, 0);
	assert_int_equal(summary_row__mean_ns(rows), 0);
}

static void span(struct summary *s, uint32_t process, uint32_t tid, uint8_t kind, uint32_t label,
		 uint32_t invocation)
{
	const struct trace_span at = {.start_ns = 100,
				      .end_ns = 110 + label,
				      .process = process,
				      .tid = tid,
				      .kind = kind,
				      .label = label,
				      .invocation = invocation,
				      .caller = TRACE_NO_LOCATION};

	assert_int_equal(summary__span(s, &at, &none), 0);
}

CASE(loads_are_distinguished_from_executions)
{
	_free_ struct summary_row *rows = NULL;
	struct reuse reuse;
	size_t n;

	span(s, 0, 1, TRACE_KIND_LOAD, 2, TRACE_NO_INVOCATION);
	span(s, 0, 1, TRACE_KIND_QUERY, 2, 40);
	span(s, 0, 1, TRACE_KIND_LOAD, 2, TRACE_NO_INVOCATION);
	span(s, 0, 1, TRACE_KIND_LOAD, 3, TRACE_NO_INVOCATION);
	span(s, 0, 1, TRACE_KIND_QUERY, 2, 39);
	/* The number of an activity is not the number of a result. */
	span(s, 0, 1, TRACE_KIND_ACTIVITY, 5, 100000);
	/* Nor is the recorder's own id of an execution that a compile error ended, of any thread.
	 */
	span(s, 0, 3, TRACE_KIND_QUERY, 4, MM_FIRST_REGULAR_ID);
	reuse = summary__reuse(s, 0);
	assert_struct(reuse, executed, 3, loads, 3, loaded, 2, results, 41);
	assert_int_equal(summary__rows(s, 0, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].loads, rows[i].label == 2 ? 2 : rows[i].label == 3);
		assert_int_equal(rows[i].loaded, rows[i].label == 2 || rows[i].label == 3);
	}
	/* Several threads take numbers in blocks, which leaves gaps. */
	span(s, 0, 2, TRACE_KIND_QUERY, 2, 300);
	assert_int_equal(summary__reuse(s, 0).results, 0);
	assert_int_equal(summary__reuse(s, 1).loads, 0);
}

static void tally(struct summary *s, uint32_t process, uint32_t kind, uint32_t label, uint64_t n)
{
	const struct trace_tally t = {
		.process = process, .label = label, .kind = kind, .events = n};

	assert_int_equal(summary__tally(s, &t), 0);
}

static void command(struct summary *s, uint32_t process, const char *command)
{
	const char *crate = strstr(command, "--crate-name ");
	const struct trace_process p = {
		.index = process, .command = (char *)command, .crate = (char *)crate};

	assert_int_equal(summary__process(s, &p), 0);
}

static void assert_result(const struct summary *s, uint32_t process, uint32_t label, uint64_t n,
			  bool missing)
{
	_free_ struct summary_row *rows = NULL;
	size_t n_rows, found = 0;

	assert_int_equal(summary__rows(s, process, &rows, &n_rows), 0);
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].label != label)
			continue;
		found++;
		assert_struct(rows[i], results, n, results_missing, missing);
		assert_int_equal(summary_row__is_counted(&rows[i]), !missing);
	}
	assert_int_equal(found, n != 0);
}

TEST_CASE(a_sum_misses_what_was_not_read)
{
	_summary_ struct summary *s = NULL;

	assert_int_equal(summary__new(&s), 0);
	summary__set_unwatched(s);
	command(s, 0, "rustc --crate-name a a.rs");
	command(s, 1, "rustc --crate-name b b.rs");
	command(s, 2, "rustc -vV");
	tally(s, 0, TRACE_KIND_RESULTS, 1, 10);
	tally(s, 0, TRACE_KIND_RESULTS, 2, 20);
	tally(s, 0, TRACE_KIND_RESULTS, 3, 30);
	/* The second one was not read, or not yet. */
	assert_result(s, SUMMARY_ALL, 1, 10, true);
	assert_result(s, 0, 1, 10, false);
	tally(s, 1, TRACE_KIND_RESULTS, 1, 1);
	tally(s, 1, TRACE_KIND_RESULTS_AT_LEAST, 2, 2);
	tally(s, 1, TRACE_KIND_RESULTS_AT_LEAST, 3, 0);
	tally(s, 1, TRACE_KIND_RESULTS_AT_LEAST, 4, 0);
	for (int folded = 0; folded < 2; folded++) {
		assert_result(s, SUMMARY_ALL, 1, 11, false);
		assert_result(s, SUMMARY_ALL, 2, 22, true);
		assert_result(s, SUMMARY_ALL, 3, 30, true);
		assert_result(s, SUMMARY_ALL, 4, 0, true);
		assert_int_equal(summary__fold(s, folded), 0);
	}
	assert_int_equal(summary__fold(s, 2), 0);
	assert_result(s, SUMMARY_ALL, 1, 11, false);
	command(s, 3, "rustc --crate-name c c.rs");
	assert_result(s, SUMMARY_ALL, 1, 11, true);
}

CASE(activities_are_distinguished_from_queries)
{
	_free_ struct summary_row *rows = NULL;

	span(s, 0, 1, TRACE_KIND_ACTIVITY, 1, TRACE_NO_INVOCATION);
	span(s, 0, 1, TRACE_KIND_BLOCKED, 2, TRACE_NO_INVOCATION);
	span(s, 0, 1, TRACE_KIND_ACTIVITY, 3, TRACE_NO_INVOCATION);
	span(s, 1, 1, TRACE_KIND_QUERY, 3, TRACE_NO_INVOCATION);
	span(s, 0, 1, TRACE_KINDS_MAX - 1, 4, TRACE_NO_INVOCATION);
	rows = rows_of(s, SUMMARY_ALL, 5);
	for (size_t i = 0; i < 5; i++) {
		bool queries = rows[i].label == 2 || rows[i].kinds == 1u << TRACE_KIND_QUERY;

		assert_int_equal(rows[i].is_activity, !queries);
		/* Kinds that no query can have, too. */
		assert_int_equal(summary_row__is_activity(&rows[i]),
				 !queries && rows[i].label != 4);
	}
}

/* rustc has some names for a query and for the activity around it. */
CASE(a_query_and_an_activity_of_one_name_are_two_rows)
{
	for (int folded = 0; folded < 2; folded++) {
		_free_ struct summary_row *rows = NULL;

		for (uint32_t process = 0; process < 2 && !folded; process++) {
			span(s, process, 1, TRACE_KIND_ACTIVITY, 1, TRACE_NO_INVOCATION);
			span(s, process, 1, TRACE_KIND_QUERY, 1, TRACE_NO_INVOCATION);
			span(s, process, 1, TRACE_KIND_QUERY, 1, TRACE_NO_INVOCATION);
			span(s, process, 1, TRACE_KIND_BLOCKED, 1, TRACE_NO_INVOCATION);
		}
		if (folded)
			assert_int_equal(summary__fold(s, 0), 0);
		rows = rows_of(s, SUMMARY_ALL, 2);
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(rows[i].count, rows[i].is_activity ? 2 : 4);
			assert_int_equal(summary_row__is_activity(&rows[i]), rows[i].is_activity);
		}
		assert_int_equal(summary__counts(s, SUMMARY_ALL, &counts), 0);
		assert_struct(counts, queries, 4, activities, 2);
	}
}

/* Of queries without probes; of others the recorded ones count. */
CASE(tables_of_the_compiler_count_executions)
{
	const struct trace_tally tallies[] = {
		{.label = 1, .kind = TRACE_KIND_RESULTS, .events = 20},
		{.label = 2, .kind = TRACE_KIND_RESULTS, .events = 50, .sum = 8},
		{.label = 3, .kind = TRACE_KIND_RESULTS, .events = 3},
	};

	for (size_t i = 0; i < N_OF(tallies); i++)
		assert_int_equal(summary__tally(s, &tallies[i]), 0);
	summary__set_unwatched(s);
	for (int recorded = 0; recorded < 2; recorded++) {
		assert_int_equal(summary__counts(s, SUMMARY_ALL, &counts), 0);
		assert_struct(counts, queries, (recorded ? 1 : 20) + 42 + 3, unsure, 8);
		span(s, 0, 1, TRACE_KIND_QUERY, 1, TRACE_NO_INVOCATION);
	}
}

/* One compiler has recorded executions, and another was found after its own: a total is their sum.
 */
CASE(a_total_is_the_sum_of_its_compilers)
{
	const struct trace_tally tallies[] = {
		{.process = 0, .label = 1, .kind = TRACE_KIND_RESULTS, .events = 20},
		{.process = 1, .label = 1, .kind = TRACE_KIND_RESULTS, .events = 50, .sum = 8},
	};

	for (size_t i = 0; i < N_OF(tallies); i++)
		assert_int_equal(summary__tally(s, &tallies[i]), 0);
	summary__set_unwatched(s);
	for (int i = 0; i < 20; i++)
		span(s, 0, 1, TRACE_KIND_QUERY, 1, TRACE_NO_INVOCATION);
	for (int folded = 0; folded < 3; folded++) {
		_free_ struct summary_row *rows = rows_of(s, SUMMARY_ALL, 1);
		uint64_t sum = 0;

		for (uint32_t process = 0; process < 2 && !folded; process++) {
			assert_int_equal(summary__counts(s, process, &counts), 0);
			sum += counts.queries;
		}
		assert_true(folded || sum == 20 + 42);
		assert_int_equal(summary__counts(s, SUMMARY_ALL, &counts), 0);
		assert_struct(counts, queries, 20 + 42, unsure, 8);
		assert_int_equal(summary_row__executions(&rows[0]), 20 + 42);
		if (folded < 2)
			assert_int_equal(summary__fold(s, (uint32_t)folded), 0);
	}
}

/* One of two compilers ran before its probes were there. */
CASE(recorded_executions_have_no_results_beside)
{
	tally(s, 1, TRACE_KIND_RESULTS, 1, 50);
	tally(s, 1, TRACE_KIND_RESULTS, 2, 60);
	tally(s, 1, TRACE_KIND_RESULTS, 3, 70);
	span(s, 0, 1, TRACE_KIND_QUERY, 1, TRACE_NO_INVOCATION);
	span(s, 1, 1, TRACE_KIND_BLOCKED, 2, TRACE_NO_INVOCATION);
	for (int folded = 0; folded < 2; folded++) {
		_free_ struct summary_row *rows = rows_of(s, SUMMARY_ALL, 2);

		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(summary_row__executions(&rows[i]), rows[i].label == 1);
			assert_int_equal(rows[i].results, 0);
		}
		assert_int_equal(summary__counts(s, SUMMARY_ALL, &counts), 0);
		assert_int_equal(counts.queries, 1);
		assert_int_equal(summary__fold(s, 1), 0);
	}
}

/* Where not all queries have probes. */
CASE(a_query_that_was_also_waited_for_is_a_query)
{
	summary__set_unwatched(s);
	span(s, 0, 1, TRACE_KIND_BLOCKED, 1, TRACE_NO_INVOCATION);
	span(s, 0, 2, TRACE_KIND_LOAD, 2, TRACE_NO_INVOCATION);
	tally(s, 0, TRACE_KIND_RESULTS, 1, 569);
	for (int folded = 0; folded < 2; folded++) {
		_free_ struct summary_row *rows = rows_of(s, SUMMARY_ALL, 2);

		for (size_t i = 0; i < 2; i++)
			assert_string_equal(summary_row__kind(&rows[i]),
					    rows[i].label == 1 ? "Query" : "IncrementalLoadResult");
		assert_int_equal(summary__fold(s, 0), 0);
	}
}

static struct sample_sums sampled(uint64_t self)
{
	return (struct sample_sums){.self[TRACE_SAMPLE_CPU] = {self, 1000 * self},
				    .total[TRACE_SAMPLE_CPU] = {self + 7, 1000 * (self + 7)}};
}

CASE(a_query_without_intervals_has_its_samples)
{
	_free_ struct summary_row *rows = NULL, *one = NULL;
	const struct sample_sums sums = sampled(2), more = sampled(7);

	assert_false(summary__is_sampled(s));
	summary__set_sampled(s);
	assert_true(summary__is_sampled(s));
	span(s, 0, 1, TRACE_KIND_QUERY, 3, TRACE_NO_INVOCATION);
	must(summary__samples(s, 0, 2, 1, &sums), summary__samples(s, 1, 2, 1, &more));
	assert_int_equal(summary__samples(s, N_PROCESSES, 2, 1, &more), -EINVAL);
	one = rows_of(s, 1, 1);
	assert_int_equal(one[0].best_self_ns, 7000);
	/* In the order of the times that are known best. */
	rows = rows_of(s, SUMMARY_ALL, 2);
	assert_struct(rows[0], label, 2, self_by, SUMMARY_SELF_SAMPLES, best_self_ns, 9000,
		      best_error_ns, 3000, sampled_total_error_ns,
		      sample_sum__error(&rows[0].samples.total[1]));
	assert_int_equal(rows[1].self_by, SUMMARY_SELF_SPANS);
	assert_int_equal(rows[1].best_self_ns, rows[1].self_ns);
	/* So does a process that is folded. */
	assert_int_equal(summary__fold(s, 1), 0);
	free(rows);
	rows = rows_of(s, SUMMARY_ALL, 2);
	assert_int_equal(rows[0].best_self_ns, 9000);
}

/* Self times of what has probes would hold those of queries; total times are exact. */
CASE(without_probes_of_queries_all_self_times_are_by_samples)
{
	const struct trace_tally tally = {.label = 3, .kind = TRACE_KIND_RESULTS, .events = 7};
	const struct sample_sums more = sampled(100), fewer = sampled(25);
	_free_ struct summary_row *rows = NULL;

	for (uint32_t label = 1; label <= 2; label++) {
		const struct trace_span activity = {
			.end_ns = 500000, .label = label, .kind = TRACE_KIND_ACTIVITY};

		must(summary__span(s, &activity, &(struct trace_times){.self_ns = 500000}));
	}
	summary__set_sampled(s);
	summary__set_unwatched(s);
	assert_true(summary__is_unwatched(s));
	assert_int_equal(summary__tally(s, &tally), 0);
	assert_int_equal(summary__samples(s, 0, 1, 1u << TRACE_KIND_ACTIVITY, &fewer), 0);
	assert_int_equal(summary__samples(s, 0, 3, 1u << TRACE_KIND_QUERY, &more), 0);
	rows = rows_of(s, SUMMARY_ALL, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(rows[i].self_by, SUMMARY_SELF_SAMPLES);
	assert_struct(rows[0], label, 3, best_self_ns, 100000, best_error_ns, 10000, count, 0);
	assert_int_equal(summary_row__executions(&rows[0]), 7);
	assert_struct(rows[1], label, 1, best_self_ns, 25000, best_cpu_ns, 25000, total_ns, 500000);
	assert_int_equal(summary_row__executions(&rows[1]), 1);
	/* Nothing met it. */
	assert_struct(rows[2], best_self_ns, 0, self_ns, 500000);
}

TEST_MAIN(NULL, NULL)
