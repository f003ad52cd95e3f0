// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sample_counts.h"

#include "test.h"
#include "base/cleanup.h"

enum { A = 3, B, C };

static void sample(struct sample_counts *c, const uint32_t *labels, uint8_t cause)
{
	const struct trace_sample s = {.value = 10, .cause = cause};

	for (; *labels; labels++) {
		struct trace_stack entry = {.kind = TRACE_STACK_QUERY, .place = *labels};

		if (*labels == C)
			entry.kind = TRACE_STACK_ACTIVITY;
		sample_counts__entry(c, &entry);
		entry.kind = TRACE_STACK_LOCATION;
		sample_counts__entry(c, &entry);
		entry.kind = TRACE_STACK_UNKNOWN;
		sample_counts__entry(c, &entry);
	}
	assert_int_equal(sample_counts__sample(c, &s), 0);
}

#define SAMPLE(c, ...) sample(c, (const uint32_t[]){__VA_ARGS__, 0}, TRACE_SAMPLE_CPU)

static void assert_row(const struct sample_count *row, uint32_t label, uint64_t self,
		       uint64_t total)
{
	assert_int_equal(row->label, label);
	assert_int_equal(row->self.n, self);
	assert_int_equal(row->self.value, 10 * self);
	assert_int_equal(row->total.n, total);
}

static void the_innermost_interval_has_the_sample(void **state)
{
	__cleanup(sample_counts__destroy) struct sample_counts c = {};
	const struct sample_count *rows;

	SAMPLE(&c, A, B);
	SAMPLE(&c, A, B);
	SAMPLE(&c, A);
	/* Within itself it counts once. */
	SAMPLE(&c, A, B, A, B, C);
	sample(&c, (const uint32_t[]){A, 0}, TRACE_SAMPLE_OFF_CPU);
	sample(&c, (const uint32_t[]){0}, TRACE_SAMPLE_CPU);
	rows = c.rows.at;
	assert_int_equal(c.rows.n, 4);
	assert_row(&rows[0], A, 1, 4);
	assert_row(&rows[1], B, 2, 3);
	assert_row(&rows[2], C, 1, 1);
	assert_int_equal(rows[2].kind, TRACE_KIND_ACTIVITY);
	assert_row(&rows[3], TRACE_NO_STRING, 1, 1);
	assert_int_equal(c.all.n, 5);
}

static void a_stack_may_be_deep(void **state)
{
	__cleanup(sample_counts__destroy) struct sample_counts c = {};
	const struct trace_sample s = {.value = 10, .cause = TRACE_SAMPLE_CPU};

	for (uint32_t i = 0; i < 2 * SAMPLE_COUNTS_DEEPEST; i++)
		sample_counts__entry(
			&c, &(struct trace_stack){.kind = TRACE_STACK_QUERY, .place = A + i});
	assert_int_equal(sample_counts__sample(&c, &s), 0);
	assert_int_equal(c.rows.n, SAMPLE_COUNTS_DEEPEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_interval_has_the_sample),
		cmocka_unit_test(a_stack_may_be_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
