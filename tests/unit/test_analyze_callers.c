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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_functions_and_their_most_frequent_line),
		cmocka_unit_test(functions_of_one_name_are_one_row),
		cmocka_unit_test(executions_of_unknown_callers_share_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
