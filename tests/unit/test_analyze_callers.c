// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/callers.h"

#include "test.h"

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

static void count(struct callers *c, uint32_t caller, uint64_t ns, unsigned int n)
{
	const struct trace_span s = {.start_ns = 1000, .end_ns = 1000 + ns, .caller = caller};
	const struct trace_times times = {.self_ns = ns / 2};

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(callers__span(c, &s, &times), 0);
}

static struct caller_row *rows_of(const struct callers *c, size_t *n)
{
	const struct caller_locator locator = {.locate = locate};
	struct caller_row *rows;

	assert_int_equal(callers__rows(c, &locator, &rows, n), 0);
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

static void rows_are_functions_and_their_most_frequent_line(void **state)
{
	_callers_ struct callers *c = NULL;
	_free_ struct caller_row *rows = NULL;
	const struct caller_row *row;
	size_t n;

	assert_int_equal(callers__new(&c), 0);
	count(c, 110, 100, 2);
	count(c, 125, 10, 2);
	/* 126 is on the line of 125, which has the most executions. */
	count(c, 126, 20, 1);
	count(c, 301, 8, 1);
	rows = rows_of(c, &n);
	assert_int_equal(n, 2);
	row = row_of(rows, n, "a::asks");
	assert_int_equal(row->count, 5);
	assert_int_equal(row->total_ns, 240);
	assert_int_equal(row->self_ns, 120);
	assert_int_equal(row->max_ns, 100);
	assert_string_equal(row->file, "src/x.rs");
	assert_int_equal(row->line, 12);
	assert_int_equal(row->line_count, 3);
	assert_int_equal(row->lines, 2);
	row = row_of(rows, n, "c::asks");
	assert_int_equal(row->count, 1);
	assert_null(row->file);
	assert_int_equal(row->lines, 0);
}

/* Two libraries may contain a function of the same name. */
static void functions_of_one_name_are_one_row(void **state)
{
	_callers_ struct callers *c = NULL;
	_free_ struct caller_row *rows = NULL;
	size_t n;

	assert_int_equal(callers__new(&c), 0);
	count(c, 250, 10, 3);
	count(c, 450, 10, 4);
	count(c, 110, 10, 1);
	rows = rows_of(c, &n);
	assert_int_equal(n, 2);
	assert_int_equal(row_of(rows, n, "b::asks")->count, 7);
	assert_int_equal(row_of(rows, n, "b::asks")->line_count, 3);
}

static void executions_of_unknown_callers_share_one_row(void **state)
{
	_callers_ struct callers *c = NULL;
	_free_ struct caller_row *rows = NULL;
	struct trace_span open = {.end_ns = 5, .flags = TRACE_SPAN_OPEN};
	size_t n;

	assert_int_equal(callers__new(&c), 0);
	rows = rows_of(c, &n);
	assert_int_equal(n, 0);
	free(rows);
	count(c, TRACE_NO_LOCATION, 10, 1);
	count(c, 600, 10, 1);
	assert_int_equal(callers__span(c, &open, &(struct trace_times){0}), 0);
	rows = rows_of(c, &n);
	assert_int_equal(n, 1);
	assert_int_equal(row_of(rows, n, NULL)->count, 3);
	assert_int_equal(row_of(rows, n, NULL)->unwound, 1);
	assert_int_equal(row_of(rows, n, NULL)->lines, 0);
}

/* Of 4 samples in the query 1, one was its own. */
static void time_of_other_queries_is_taken_off(void **state)
{
	const struct trace_span spans[] = {{.end_ns = 100, .caller = 110, .label = 1},
					   {.end_ns = 100, .caller = 110, .label = 2},
					   {.end_ns = 100, .caller = 120, .label = 2},
					   {.end_ns = 100, .caller = 450, .label = 2}};
	_free_ struct caller_row *rows = NULL;
	_callers_ struct callers *c = NULL;
	struct own_shares shares = {};
	size_t n;

	assert_int_equal(callers__new(&c), 0);
	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(callers__span(c, &spans[i], &(struct trace_times){.self_ns = 80}),
				 0);
	assert_non_null(table__get(&shares.of, 1, .own = 1, .all = 4));
	callers__divide(c, &shares);
	rows = rows_of(c, &n);
	assert_int_equal(n, 2);
	assert_int_equal(row_of(rows, n, "a::asks")->cpu_ns, 240);
	assert_int_equal(row_of(rows, n, "a::asks")->own.cpu_ns, 20 + 160);
	assert_int_equal(row_of(rows, n, "a::asks")->line_count, 2);
	assert_int_equal(row_of(rows, n, "a::asks")->lines, 2);
	assert_int_equal(row_of(rows, n, "b::asks")->own.cpu_ns, 80);
	own_shares__destroy(&shares);
}

/* The share of label 1 is 0.5 +- 0.05, that of label 2 is 0.5 +- 0.25. */
static void lines_of_a_function_share_the_error_of_a_query(void **state)
{
	const struct trace_span spans[] = {
		{.caller = 110, .label = 1}, {.caller = 120, .label = 1},
		{.caller = 250, .label = 1}, {.caller = 250, .label = 2},
		{.caller = 450, .label = 1}, {.caller = 301, .label = 1}};
	_free_ struct caller_row *rows = NULL;
	_callers_ struct callers *c = NULL;
	struct own_shares shares = {};
	size_t n;

	assert_int_equal(callers__new(&c), 0);
	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(
			callers__span(c, &spans[i], &(struct trace_times){.self_ns = 1000}), 0);
	assert_non_null(table__get(&shares.of, 1, .own = 50, .all = 100));
	assert_non_null(table__get(&shares.of, 2, .own = 2, .all = 4));
	callers__divide(c, &shares);
	rows = rows_of(c, &n);
	assert_int_equal(n, 3);
	assert_int_equal(own_time__error(&row_of(rows, n, "c::asks")->own), 50);
	assert_int_equal(own_time__error(&row_of(rows, n, "a::asks")->own), 100);
	/* sqrt(100^2 + 250^2) */
	assert_int_equal(own_time__error(&row_of(rows, n, "b::asks")->own), 269);
	own_shares__destroy(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_functions_and_their_most_frequent_line),
		cmocka_unit_test(functions_of_one_name_are_one_row),
		cmocka_unit_test(executions_of_unknown_callers_share_one_row),
		cmocka_unit_test(time_of_other_queries_is_taken_off),
		cmocka_unit_test(lines_of_a_function_share_the_error_of_a_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
