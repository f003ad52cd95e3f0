// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_text.h"

#include "test.h"
#include "../fixtures/output.h"

static void assert_head(const struct samples_totals *t, const char *expected)
{
	_free_ char *text = PRINTED(samples_text_head(to_, t));

	assert_string_equal(text, expected);
}

static void assert_notes(const struct samples_totals *t, const char *expected)
{
	_free_ char *text = PRINTED(samples_text_notes(to_, t));

	assert_string_equal(text, expected);
}

static void the_head_has_time_rate_and_share(void **state)
{
	struct samples_totals t = {
		.sampling = {.hz = 499},
		.of = {[TRACE_SAMPLE_CPU] = {.n = 1000, .value = 2000000000}},
		.no_query = {[TRACE_SAMPLE_CPU] = {.n = 250}},
	};

	assert_head(&t, "1,000 samples, 499 a second of CPU time, 75.0 % in queries and passes\n");
	/* Traces that were cut may lack the rate. */
	t.sampling.hz = 0;
	assert_head(&t, "1,000 samples, 75.0 % in queries and passes\n");
}

static void memory_is_elsewhere_and_nothing_is_nothing(void **state)
{
	struct samples_totals t = {.of = {[TRACE_SAMPLE_OFF_CPU] = {.n = 1, .value = 1}}};

	assert_head(&t, "");
	t.of[TRACE_SAMPLE_FAULT].n = 1;
	assert_head(&t, "page faults were sampled: report --memory shows them\n");
}

static void whole_stacks_need_no_note(void **state)
{
	const struct samples_totals t = {.of = {[TRACE_SAMPLE_CPU] = {.n = 10}},
					 .cut = {[TRACE_CUT_NOT] = 10},
					 .compared = 10};

	assert_notes(&t, "");
}

static void each_cause_of_a_cut_is_named(void **state)
{
	const struct samples_totals t = {
		.of = {[TRACE_SAMPLE_CPU] = {.n = 20}},
		.cut = {[TRACE_CUT_NOT] = 10,
			[TRACE_CUT_NO_MAP] = 1,
			[TRACE_CUT_NO_RULE] = 2,
			[TRACE_CUT_NO_PAGE] = 3,
			[TRACE_CUT_TOO_DEEP] = 4},
	};

	assert_notes(&t, "stacks that do not reach the start of their thread: 50.0 %\n"
			 "  code in no known file: 1\n"
			 "  no unwind rule: 2\n"
			 "  a part of the stack not in memory: 3\n"
			 "  too many frames: 4\n");
}

static void what_disagrees_is_a_share_of_what_was_compared(void **state)
{
	const struct samples_totals t = {
		.of = {[TRACE_SAMPLE_CPU] = {.n = 100}},
		.cut = {[TRACE_CUT_NOT] = 100},
		.unknown = 20,
		.compared = 50,
		.differ = 5,
	};

	assert_notes(&t, "in a query that its code does not name: 20.0 %, counted for the one "
			 "around it\n"
			 "stacks that show another query than the probes: 10.0 %\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_has_time_rate_and_share),
		cmocka_unit_test(memory_is_elsewhere_and_nothing_is_nothing),
		cmocka_unit_test(whole_stacks_need_no_note),
		cmocka_unit_test(each_cause_of_a_cut_is_named),
		cmocka_unit_test(what_disagrees_is_a_share_of_what_was_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
