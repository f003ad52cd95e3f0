// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/computed.h"
#include "../fixtures/spans.h"
#include "../fixtures/spans_trace.h"
#include "analyze/summary.h"
#include "export/flame.h"
#define N_PROCESSES 3
#define N_LABELS    12

/* Times on the CPU of each query in all processes. */
static void assert_is_total(const struct summary *sum, const uint64_t cpu_ns[N_LABELS])
{
	_free_ struct summary_row *rows = NULL;
	size_t n;

	assert_int_equal(summary__rows(sum, SUMMARY_ALL, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(cpu_ns[rows[i].label], rows[i].self_cpu_ns);
}

/* Self times and executions of each query in each process are those of a report. */
static void assert_is_summary(const struct flame *f, struct trace_reader *r,
			      const struct trace_costs *costs)
{
	_summary_ struct summary *sum = NULL;
	_self_time_ struct self_time *st = computed_new();
	_stack_ struct stack s = {0};
	uint64_t all_cpu_ns[N_LABELS] = {0};
	struct trace_item item;

	assert_int_equal(summary__new(&sum), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind == TRACE_ITEM_PROCESS)
			assert_int_equal(summary__process(sum, item.process), 0);
		else if (item.kind == TRACE_ITEM_COSTS && costs)
			self_time__set_costs(st, costs);
		else if (item.kind == TRACE_ITEM_SPAN)
			assert_int_equal(computed_span(sum, st, &item.span), 0);
	}
	for (uint32_t process = 0; process < N_PROCESSES; process++) {
		uint64_t wall_ns[N_LABELS] = {0}, cpu_ns[N_LABELS] = {0}, count[N_LABELS] = {0};
		_free_ struct summary_row *rows = NULL;
		size_t n;

		stack__begin(&s, f, process, process + 1);
		while (stack__next(&s) == 1) {
			const struct flame_node *node = stack__node(&s);
			int label = atoi(flame__name(f, node) + 1);

			wall_ns[label] += node->self[FLAME_WALL];
			cpu_ns[label] += node->self[FLAME_CPU];
			all_cpu_ns[label] += node->self[FLAME_CPU];
			count[label] += node->count;
		}
		assert_int_equal(summary__rows(sum, process, &rows, &n), 0);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(wall_ns[rows[i].label], rows[i].self_ns);
			assert_int_equal(cpu_ns[rows[i].label], rows[i].self_cpu_ns);
			assert_int_equal(count[rows[i].label], rows[i].count);
		}
	}
	assert_is_total(sum, all_cpu_ns);
}

/* Compare the stacks of these spans with a report. Returns their number. */
static uint32_t check(const struct trace_span *spans, uint32_t n, const struct trace_costs *costs)
{
	struct trace_reader *readers[2];
	struct export_job job = {};
	_flame_ struct flame *f = NULL;

	spans_trace(spans, n, N_PROCESSES, N_LABELS, costs, readers, 2);
	job.r = readers[0];
	assert_int_equal(flame__build(&job, &f), 0);
	assert_is_summary(f, readers[1], costs);
	trace_reader__free(readers[0]);
	trace_reader__free(readers[1]);
	return flame__n_stacks(f);
}

static const struct trace_costs costs = {{300000, 0, 350000, 0}, false};

static void check_random(const struct trace_costs *c, uint32_t lost)
{
	struct rng rng = rng_new();
	struct spans *spans = spans_new(&rng, 15000, N_PROCESSES, N_LABELS);
	uint32_t n = 0;

	/* Some parents may be missing. */
	for (uint32_t i = 0; i < spans->n; i++)
		if (!lost || rng_below(&rng, lost))
			spans->at[n++] = spans->at[i];
	assert_true(check(spans->at, n, c) < n);
	free(spans);
}

static void sums_are_those_of_a_report(void **state)
{
	check_random(NULL, 0);
}

/* The probe costs of many stacks exceed their self time. */
static void probe_time_is_subtracted_from_self_time(void **state)
{
	check_random(&costs, 0);
}

static void lost_parents_lose_nothing_else(void **state)
{
	check_random(&costs, 4);
}

/* A wait is shorter than its probe costs: the rest is subtracted from the query's executions. */
static void all_kinds_of_a_query_bear_what_probes_took(void **state)
{
	static const struct trace_span spans[] = {
		{.start_ns = 0, .end_ns = 90000, .label = 1},
		{.start_ns = 90000, .end_ns = 90010, .label = 1, .kind = TRACE_KIND_BLOCKED},
	};

	check(spans, 2, &costs);
}

/* Also where probes are thought to have taken more than what is left. */
static void waiting_is_in_the_wall_time_alone(void **state)
{
	static const struct trace_span spans[] = {
		{.start_ns = 200, .end_ns = 700, .depth = 1, .kind = TRACE_KIND_OFF_CPU},
		{.start_ns = 100, .end_ns = 900, .label = 1},
		{.start_ns = 2000, .end_ns = 60000, .depth = 1, .kind = TRACE_KIND_OFF_CPU},
		{.start_ns = 1000, .end_ns = 90000, .label = 1},
		{.start_ns = 100000, .end_ns = 100090, .depth = 1, .kind = TRACE_KIND_OFF_CPU},
		{.start_ns = 100000, .end_ns = 100100, .label = 2},
	};

	check(spans, N_OF(spans), &costs);
	check(spans, N_OF(spans), NULL);
	assert_int_equal(check(spans, 2, NULL), 1);
}

static char *stacks_of(const struct trace_span *spans, size_t n)
{
	struct export_job job = {};
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char *text = calloc(1, 1024);

	spans_trace(spans, n, 1, 4, NULL, &job.r, 1);
	assert_int_equal(flame__build(&job, &f), 0);
	stack__begin(&s, f, 0, 1);
	while (stack__next(&s) == 1) {
		const struct flame_node *node = stack__node(&s);

		for (uint32_t i = 1; i < s.n; i++)
			sprintf(text + strlen(text), "%s%s", i > 1 ? ">" : "",
				flame__name(f, flame__node(f, s.nodes[i])));
		sprintf(text + strlen(text), " %u %u; ", (unsigned int)node->count,
			(unsigned int)node->self[FLAME_WALL]);
	}
	trace_reader__free(job.r);
	return text;
}

#define assert_stacks(spans, expected)                             \
	do {                                                       \
		_free_ char *text = stacks_of(spans, N_OF(spans)); \
                                                                   \
		assert_string_equal(text, expected);               \
	} while (0)

static void kinds_have_stacks_of_their_own(void **state)
{
	static const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 10, .depth = 1, .kind = TRACE_KIND_HIT},
		{.start_ns = 10, .end_ns = 13, .depth = 1, .label = 1, .kind = TRACE_KIND_LOAD},
		{.start_ns = 13, .end_ns = 14, .depth = 1, .label = 1},
		{.start_ns = 10, .end_ns = 20, .label = 1, .kind = TRACE_KIND_ACTIVITY},
	};

	assert_stacks(spans, "q1 1 6; q1>q1 1 1; q1>q1 [IncrementalLoadResult] 0 3; ");
}

static void threads_of_a_process_are_merged(void **state)
{
	static const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 13, .depth = 1, .label = 2, .tid = 1},
		{.start_ns = 11, .end_ns = 12, .depth = 1, .label = 2, .tid = 2},
		{.start_ns = 10, .end_ns = 20, .label = 1, .tid = 2},
		{.start_ns = 10, .end_ns = 15, .label = 1, .tid = 1},
		/* Its parent was lost. */
		{.start_ns = 30, .end_ns = 34, .depth = 3, .label = 2, .tid = 1},
	};

	assert_stacks(spans, "q1 2 11; q1>q2 2 4; q2 1 4; ");
}

/* The depths show that intervals between them were lost, but not which. */
static void an_interval_belongs_to_its_nearest_recorded_ancestor(void **state)
{
	static const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 11, .depth = 2, .label = 2},
		{.start_ns = 12, .end_ns = 13, .depth = 3, .label = 3},
		{.start_ns = 10, .end_ns = 15, .depth = 1, .label = 1},
		{.start_ns = 16, .end_ns = 17, .depth = 1, .label = 2},
		{.start_ns = 10, .end_ns = 20},
	};

	assert_stacks(spans, "q0 1 4; q0>q1 1 3; q0>q1>q2 1 1; q0>q1>q3 1 1; q0>q2 1 1; ");
}

/* Their time belongs to no stack. Their children move up and merge with equal stacks there. */
static void unknown_kinds_are_passed_over(void **state)
{
	static const struct trace_span spans[] = {
		{.start_ns = 11, .end_ns = 12, .depth = 2, .label = 2},
		{.start_ns = 10, .end_ns = 14, .depth = 1, .kind = TRACE_KIND_OTHER},
		{.start_ns = 20, .end_ns = 21, .depth = 1, .label = 1},
		{.start_ns = 31, .end_ns = 32, .depth = 2, .label = 2},
		{.start_ns = 32, .end_ns = 33, .depth = 3, .label = 3},
		{.start_ns = 30, .end_ns = 34, .depth = 1, .kind = TRACE_KIND_OTHER},
		{.start_ns = 40, .end_ns = 41, .depth = 1, .label = 1},
		{.start_ns = 10, .end_ns = 50},
		{.start_ns = 61, .end_ns = 62, .depth = 1, .label = 1},
		{.start_ns = 60, .end_ns = 70, .kind = TRACE_KIND_OTHER},
	};

	assert_stacks(spans, "q0 1 30; q0>q1 2 2; q0>q2 2 2; q0>q3 1 1; q1 1 1; ");
}

/* ---- Stack ----------------------------------------------------------------------------------- */

static void each_stack_comes_once(void **state)
{
	/* Process 0: q0 > q1 > q2, q0 > q2; process 1: nothing; process 2: q1 */
	const struct trace_span spans[] = {
		{.start_ns = 12, .end_ns = 13, .depth = 2, .label = 2},
		{.start_ns = 11, .end_ns = 14, .depth = 1, .label = 1},
		{.start_ns = 15, .end_ns = 16, .depth = 1, .label = 2},
		{.start_ns = 10, .end_ns = 20, .depth = 0, .label = 0},
		{.start_ns = 10, .end_ns = 20, .depth = 0, .label = 1, .process = 2},
	};
	struct export_job job = {};
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char text[256] = "";

	spans_trace(spans, 5, 3, 3, NULL, &job.r, 1);
	assert_int_equal(flame__build(&job, &f), 0);
	stack__begin(&s, f, 0, UINT32_MAX);
	while (stack__next(&s) == 1) {
		for (uint32_t i = 0; i < s.n; i++) {
			strcat(text, flame__name(f, flame__node(f, s.nodes[i])));
			strcat(text, i + 1 < s.n ? ">" : " ");
		}
	}
	assert_string_equal(text, "unknown (100)>q0 unknown (100)>q0>q1 unknown (100)>q0>q1>q2 "
				  "unknown (100)>q0>q2 unknown (102)>q1 ");
	assert_int_equal(flame__n_stacks(f), 5);
	trace_reader__free(job.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_a_report),
		cmocka_unit_test(probe_time_is_subtracted_from_self_time),
		cmocka_unit_test(lost_parents_lose_nothing_else),
		cmocka_unit_test(all_kinds_of_a_query_bear_what_probes_took),
		cmocka_unit_test(waiting_is_in_the_wall_time_alone),
		cmocka_unit_test(kinds_have_stacks_of_their_own),
		cmocka_unit_test(an_interval_belongs_to_its_nearest_recorded_ancestor),
		cmocka_unit_test(unknown_kinds_are_passed_over),
		cmocka_unit_test(threads_of_a_process_are_merged),
		cmocka_unit_test(each_stack_comes_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
