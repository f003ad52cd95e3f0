// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/pivot.h"

#include "test.h"

static const struct trace_times none;

static void add_process(struct pivot *g, uint32_t index, uint32_t pid, const char *crate)
{
	const struct trace_process p = {
		.index = index, .pid = pid, .crate = (char *)crate, .command = (char *)"rustc x"};

	assert_int_equal(pivot__process(g, &p), 0);
}

static void add_span(struct pivot *g, uint32_t process, uint32_t tid, uint64_t start, uint64_t end,
		     uint64_t self)
{
	const struct trace_span s = {.process = process,
				     .tid = tid,
				     .start_ns = start,
				     .end_ns = end,
				     .flags = tid == 99 ? TRACE_SPAN_OPEN : TRACE_SPAN_LEFT};

	assert_int_equal(pivot__span(g, &s, &(struct trace_times){.self_ns = self}), 0);
}

/* Crate a has two processes, the first with two threads. One process has no crate. */
static struct pivot *sample(void)
{
	const struct trace_thread name = {.process = 0, .tid = 11, .name = "opt a"};
	struct pivot *g;

	assert_int_equal(pivot__new(PIVOT_THREADS, &g), 0);
	add_process(g, 0, 10, NULL);
	add_process(g, 0, 10, "a");
	add_process(g, 1, 20, "a");
	add_process(g, 2, 30, NULL);
	add_process(g, 3, 40, "idle");
	assert_int_equal(pivot__thread(g, &name), 0);
	add_span(g, 0, 10, 100, 300, 150);
	add_span(g, 0, 11, 200, 500, 300);
	add_span(g, 0, 10, 310, 320, 10);
	add_span(g, 1, 20, 1000, 1001, 1);
	add_span(g, 2, 99, 2000, 2007, 7);
	return g;
}

/* Expect `n` rows. The caller frees them. */
static struct group_row *rows_of(const struct pivot *g, enum group_by by, size_t n)
{
	struct group_row *rows;
	size_t got;

	assert_int_equal(pivot__groups(g, by, &rows, &got), 0);
	assert_int_equal(got, n);
	return rows;
}

static const struct group_row *row(const struct group_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void check(const struct group_row *r, uint32_t processes, uint64_t count, uint64_t self,
		  uint64_t wall, uint64_t max)
{
	assert_struct(*r, processes, processes, count, count, self_ns, self, wall_ns, wall, max_ns,
		      max);
}

TEST_CASE(threads_make_processes_and_those_make_crates)
{
	_pivot_ struct pivot *g = sample();
	struct group_row *rows = rows_of(g, GROUP_BY_THREAD, 4);

	check(row(rows, 4, "a 10/10"), 1, 2, 160, 220, 200);
	check(row(rows, 4, "a 10/11 opt a"), 1, 1, 300, 300, 300);
	group_rows__free(rows, 4);
	rows = rows_of(g, GROUP_BY_PROCESS, 3);
	check(row(rows, 3, "a 10"), 1, 3, 460, 400, 300);
	check(row(rows, 3, "rustc x 30"), 1, 1, 7, 7, 7);
	assert_int_equal(row(rows, 3, "rustc x 30")->unwound, 1);
	assert_int_equal(row(rows, 3, "a 10")->unwound, 0); /* late ends are no unwinding */
	group_rows__free(rows, 3);
	rows = rows_of(g, GROUP_BY_CRATE, 2);
	check(row(rows, 2, "a"), 2, 4, 461, 401, 300);
	group_rows__free(rows, 2);
}

/* A blocked interval is no execution, but takes time. */
TEST_CASE(threads_without_executions_have_rows)
{
	static const enum group_by by[] = {GROUP_BY_CRATE, GROUP_BY_PROCESS, GROUP_BY_THREAD};
	const struct trace_span waits = {
		.tid = 2, .start_ns = 5, .end_ns = 905, .kind = TRACE_KIND_BLOCKED};
	_pivot_ struct pivot *g = NULL;
	struct group_row *rows;

	assert_int_equal(pivot__new(PIVOT_THREADS, &g), 0);
	add_process(g, 0, 1, "a");
	assert_int_equal(pivot__span(g, &waits, &(struct trace_times){.self_ns = 900}), 0);
	for (size_t i = 0; i < N_OF(by); i++) {
		rows = rows_of(g, by[i], 1);
		check(&rows[0], 1, 0, 900, 900, 900);
		group_rows__free(rows, 1);
	}
}

TEST_CASE(on_and_off_the_cpu_make_up_the_wall)
{
	static const struct trace_span off[] = {
		{.tid = 10, .start_ns = 110, .end_ns = 120, .kind = TRACE_KIND_OFF_CPU},
		{.tid = 10, .start_ns = 300, .end_ns = 450, .kind = TRACE_KIND_OFF_CPU},
	};
	_pivot_ struct pivot *g = sample();
	const struct group_row *r;
	struct group_row *rows;

	must(pivot__off_cpu(g, &off[0], true), pivot__off_cpu(g, &off[1], false));
	rows = rows_of(g, GROUP_BY_THREAD, 4);
	r = row(rows, 4, "a 10/10");
	assert_struct(*r, wall_ns, 450 - 100, preempted_ns, 10, waiting_ns, 150, self_ns, 160);
	assert_int_equal(row(rows, 4, "a 10/11 opt a")->waiting_ns, 0);
	group_rows__free(rows, 4);
}

TEST_CASE(long_texts_are_not_copied_whole)
{
	_pivot_ struct pivot *g = NULL;
	_free_ char *crate = malloc(100001);
	struct group_row *rows;

	memset(crate, 'x', 100000);
	crate[100000] = '\0';
	assert_int_equal(pivot__new(PIVOT_THREADS, &g), 0);
	add_process(g, 0, 1, crate);
	add_span(g, 0, 1, 0, 1, 1);
	for (int by = GROUP_BY_CRATE; by <= GROUP_BY_THREAD; by++) {
		rows = rows_of(g, by, 1);
		assert_true(strlen(rows[0].name) < 600);
		group_rows__free(rows, 1);
	}
}

TEST_CASE(time_on_the_cpu_is_a_part_of_self_time)
{
	const struct trace_span spans[] = {
		{.end_ns = 100, .tid = 5}, {.end_ns = 100, .tid = 6}, {.end_ns = 100, .tid = 6}};
	const struct trace_times times = {.self_ns = 110, .self_probe_ns = 10, .self_off_ns = 50};
	_pivot_ struct pivot *g = NULL;
	struct group_row *rows;

	assert_int_equal(pivot__new(PIVOT_THREADS, &g), 0);
	add_process(g, 0, 1, "a");
	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(pivot__span(g, &spans[i], &times), 0);
	rows = rows_of(g, GROUP_BY_THREAD, 2);
	assert_struct(*row(rows, 2, "a 1/6"), self_ns, 200, cpu_ns, 100);
	group_rows__free(rows, 2);
	rows = rows_of(g, GROUP_BY_CRATE, 1);
	assert_int_equal(rows[0].cpu_ns, 150);
	group_rows__free(rows, 1);
}

/* Activities do not count as executions, nor version checks of cargo as crates. */
TEST_CASE(executions_are_those_of_queries)
{
	const struct trace_process asks = {.index = 1,
					   .pid = 2,
					   .crate = (char *)"___",
					   .command = (char *)"rustc - --print=cfg"};
	struct trace_span spans[] = {
		{.tid = 1, .end_ns = 10, .kind = TRACE_KIND_QUERY},
		{.tid = 1, .end_ns = 10, .kind = TRACE_KIND_ACTIVITY},
		{.tid = 1, .end_ns = 10, .kind = TRACE_KIND_LOAD},
		{.tid = 2, .end_ns = 10, .kind = TRACE_KIND_ACTIVITY, .process = 1},
	};
	_pivot_ struct pivot *g = NULL;
	struct group_row *rows;

	assert_int_equal(pivot__new(PIVOT_THREADS, &g), 0);
	add_process(g, 0, 1, "a");
	assert_int_equal(pivot__process(g, &asks), 0);
	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(pivot__span(g, &spans[i], &none), 0);
	rows = rows_of(g, GROUP_BY_CRATE, 1);
	assert_struct(rows[0], name, "a", count, 1, activities, 1);
	group_rows__free(rows, 1);
	rows = rows_of(g, GROUP_BY_PROCESS, 2);
	assert_struct(*row(rows, 2, "rustc --print 2"), count, 0, activities, 1);
	group_rows__free(rows, 2);
	spans[3].kind = TRACE_KIND_QUERY;
	assert_int_equal(pivot__span(g, &spans[3], &none), 0);
	group_rows__free(rows_of(g, GROUP_BY_CRATE, 2), 2);
}

/* Only where no probe saw them; not those that were fed. */
TEST_CASE(results_are_executions_without_probes)
{
	const struct trace_tally results[] = {
		{.process = 0, .kind = TRACE_KIND_RESULTS, .events = 50, .sum = 8},
		{.process = 0, .kind = TRACE_KIND_RESULTS, .events = 3},
		{.process = 1, .kind = TRACE_KIND_RESULTS, .events = 9},
	};
	_pivot_ struct pivot *g = NULL;
	struct group_row *rows;

	assert_int_equal(pivot__new(PIVOT_THREADS, &g), 0);
	add_process(g, 0, 1, "a");
	add_process(g, 1, 2, "b");
	for (size_t i = 0; i < N_OF(results); i++)
		assert_int_equal(pivot__results(g, &results[i]), 0);
	for (uint32_t process = 0; process < 2; process++) {
		const struct trace_span span = {.tid = 1,
						.end_ns = 10,
						.kind = process ? TRACE_KIND_QUERY
								: TRACE_KIND_ACTIVITY,
						.process = process};

		assert_int_equal(pivot__span(g, &span, &none), 0);
	}
	rows = rows_of(g, GROUP_BY_CRATE, 2);
	assert_int_equal(row(rows, 2, "a")->count, 50 - 8 + 3);
	assert_int_equal(row(rows, 2, "b")->count, 1);
	group_rows__free(rows, 2);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void add(struct pivot *t, uint32_t process, uint32_t tid, uint32_t label, uint64_t end)
{
	const struct trace_span span = {.end_ns = end,
					.process = process,
					.tid = tid,
					.label = label,
					.invocation = 10 * label};
	const struct trace_times times = {
		.self_ns = 100, .self_probe_ns = 30, .off_ns = 50, .self_off_ns = 10};

	assert_int_equal(pivot__span(t, &span, &times), 0);
}

TEST_CASE(threads_of_processes_are_distinguished)
{
	_pivot_ struct pivot *t = NULL;
	struct thread_row row;

	assert_int_equal(pivot__new(PIVOT_THREADS, &t), 0);
	assert_int_equal(pivot__n_threads(t), 0);
	add(t, 0, 7, 3, 1000);
	add(t, 1, 7, 4, 1100);
	add(t, 0, 8, 5, 1200);
	add(t, 0, 7, 6, 1300);
	assert_int_equal(pivot__n_threads(t), 3);
	row = pivot__thread_at(t, 0);
	assert_struct(row, process, 0, tid, 7, count, 2, self_ns, 2 * (100 - 30), self_off_ns, 20,
		      last_label, 6, last_invocation, 60, last_ns, 1300);
	assert_int_equal(pivot__thread_at(t, 1).process, 1);
	assert_int_equal(pivot__thread_at(t, 2).last_label, 5);
}

TEST_CASE(a_name_may_come_first_and_change)
{
	const struct trace_thread first = {0, 7, "rustc"}, later = {0, 7, "opt cgu.0"};
	_pivot_ struct pivot *t = NULL;

	must(pivot__new(PIVOT_THREADS, &t), pivot__thread(t, &first));
	assert_int_equal(pivot__thread_at(t, 0).last_label, TRACE_NO_STRING);
	add(t, 0, 7, 3, 1000);
	assert_int_equal(pivot__thread(t, &later), 0);
	assert_int_equal(pivot__n_threads(t), 1);
	assert_string_equal(pivot__thread_at(t, 0).name, "opt cgu.0");
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* From 100 to 499, locindex / 100 selects the function. Up to 299, locindex / 10 is the line. */
static const struct trace_function functions[] = {
	{.name = "a::asks"}, {.name = "b::asks"}, {.name = "c::asks"}, {.name = "b::asks"}};

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	if (locindex < 100 || locindex >= 500)
		return false;
	*out = (struct trace_location){.function = &functions[locindex / 100 - 1],
				       .offset = locindex % 100};
	if (locindex < 300) {
		out->file = "src/x.rs";
		out->line = locindex / 10;
	}
	return true;
}

static void count(struct pivot *c, uint32_t caller, uint64_t ns, unsigned int n)
{
	const struct trace_span s = {.start_ns = 1000, .end_ns = 1000 + ns, .caller = caller};
	const struct trace_times times = {.self_ns = ns / 2};

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(pivot__span(c, &s, &times), 0);
}

static struct caller_row *callers_rows_of(const struct pivot *c, size_t *n)
{
	const struct stack_source locator = {.locate = locate};
	struct caller_row *rows;

	assert_int_equal(pivot__callers(c, &locator, &rows, n), 0);
	return rows;
}

static const struct caller_row *row_of(const struct caller_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (name ? rows[i].function && !strcmp(rows[i].function, name) : !rows[i].function)
			return &rows[i];
	fail_msg("no row of %s", name ?: "unknown callers");
	return NULL;
}

TEST_CASE(rows_are_functions_and_their_most_frequent_line)
{
	_pivot_ struct pivot *c = NULL;
	_free_ struct caller_row *rows = NULL;
	const struct caller_row *row;
	size_t n;

	assert_int_equal(pivot__new(PIVOT_CALLERS, &c), 0);
	count(c, 110, 100, 2);
	count(c, 125, 10, 2);
	/* 126 is on the line of 125, which has the most executions. */
	count(c, 126, 20, 1);
	count(c, 301, 8, 1);
	rows = callers_rows_of(c, &n);
	assert_int_equal(n, 2);
	row = row_of(rows, n, "a::asks");
	assert_struct(*row, count, 5, total_ns, 240, self_ns, 120, max_ns, 100, file, "src/x.rs",
		      line, 12, line_count, 3, lines, 2);
	row = row_of(rows, n, "c::asks");
	assert_struct(*row, count, 1, file, NULL, lines, 0);
}

/* Two libraries may contain a function of the same name. */
TEST_CASE(functions_of_one_name_are_one_row)
{
	_pivot_ struct pivot *c = NULL;
	_free_ struct caller_row *rows = NULL;
	size_t n;

	assert_int_equal(pivot__new(PIVOT_CALLERS, &c), 0);
	count(c, 250, 10, 3);
	count(c, 450, 10, 4);
	count(c, 110, 10, 1);
	rows = callers_rows_of(c, &n);
	assert_int_equal(n, 2);
	assert_struct(*row_of(rows, n, "b::asks"), count, 7, line_count, 3);
}

TEST_CASE(executions_of_unknown_callers_share_one_row)
{
	_pivot_ struct pivot *c = NULL;
	_free_ struct caller_row *rows = NULL;
	struct trace_span open = {.end_ns = 5, .flags = TRACE_SPAN_OPEN};
	size_t n;

	assert_int_equal(pivot__new(PIVOT_CALLERS, &c), 0);
	rows = callers_rows_of(c, &n);
	assert_int_equal(n, 0);
	free(rows);
	count(c, TRACE_NO_LOCATION, 10, 1);
	count(c, 600, 10, 1);
	assert_int_equal(pivot__span(c, &open, &(struct trace_times){0}), 0);
	rows = callers_rows_of(c, &n);
	assert_int_equal(n, 1);
	assert_struct(*row_of(rows, n, NULL), count, 3, unwound, 1, lines, 0);
}

TEST_MAIN(NULL, NULL)
