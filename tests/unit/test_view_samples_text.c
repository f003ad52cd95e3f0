// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_text.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"

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

/* ---- Samples json ---------------------------------------------------------------------------- */

/* A document with nothing but these totals. */
static struct json_object *document_of(const struct samples_totals *t)
{
	_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct json j = {.out = out};

	json__begin(&j);
	json__number(&j, "first", 1);
	json__put_open(&j);
	samples_json(&j, t);
	json__print(&j, "}\n");
	assert_int_equal(j.err, 0);
	fclose(out);
	return parsed_json(text);
}

static void assert_number(struct json_object *in, const char *name, uint64_t expected)
{
	assert_int_equal(json_object_get_uint64(member(in, name)), expected);
}

static void each_number_has_its_field(void **state)
{
	const struct samples_totals t = {
		.sampling = {.hz = 499, .fault_period = 100},
		.of = {[TRACE_SAMPLE_CPU] = {.n = 7, .value = 14000},
		       [TRACE_SAMPLE_OFF_CPU] = {.n = 3, .value = 900},
		       [TRACE_SAMPLE_FAULT] = {.n = 2, .value = 819200}},
		.no_query = {[TRACE_SAMPLE_CPU] = {.n = 4, .value = 8000},
			     [TRACE_SAMPLE_FAULT] = {.n = 1, .value = 409600}},
		.cut = {[TRACE_CUT_NOT] = 6,
			[TRACE_CUT_NO_MAP] = 1,
			[TRACE_CUT_NO_RULE] = 2,
			[TRACE_CUT_NO_PAGE] = 3},
		.unknown = 5,
		.unknown_query = {.n = 9, .value = 36864},
		.light = 13,
		.compared = 11,
		.differ = 10,
	};
	struct json_object *document = document_of(&t), *s = member(document, "samples");

	assert_number(s, "hz", 499);
	assert_number(s, "fault_period", 100);
	assert_number(s, "n", 12);
	assert_number(s, "complete", 6);
	assert_number(s, "light", 13);
	assert_number(s, "unknown", 5);
	assert_number(s, "compared", 11);
	assert_number(s, "differ", 10);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_NO_MAP), 1);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_NO_RULE), 2);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_NO_PAGE), 3);
	assert_number(member(s, "cut"), sample_cut_name(TRACE_CUT_TOO_DEEP), 0);
	assert_number(member(s, "cpu"), "n", 7);
	assert_number(member(s, "cpu"), "ns", 14000);
	assert_number(member(s, "cpu"), "no_query", 4);
	assert_number(member(s, "cpu"), "no_query_ns", 8000);
	assert_number(member(s, "off_cpu"), "n", 3);
	assert_number(member(s, "off_cpu"), "ns", 900);
	assert_number(member(s, "off_cpu"), "no_query", 0);
	assert_number(member(s, "faults"), "bytes", 819200);
	assert_number(member(s, "faults"), "no_query_bytes", 409600);
	assert_number(member(s, "faults"), "unknown_query_bytes", 36864);
	assert_false(json_object_object_get_ex(member(s, "cpu"), "unknown_query_bytes", NULL));
	assert_false(json_object_object_get_ex(member(s, "faults"), "ns", NULL));
	json_object_put(document);
}

/* Of a trace in which only waits were sampled, these are not known to be 0. */
static void a_rate_that_was_not_asked_for_is_null(void **state)
{
	const struct samples_totals t = {.sampling = {.off_cpu = true}};
	struct json_object *document = document_of(&t), *s = member(document, "samples"), *hz;

	assert_true(json_object_object_get_ex(s, "hz", &hz));
	assert_null(hz);
	assert_true(json_object_object_get_ex(s, "fault_period", &hz));
	assert_null(hz);
	assert_number(s, "n", 0);
	json_object_put(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_has_time_rate_and_share),
		cmocka_unit_test(memory_is_elsewhere_and_nothing_is_nothing),
		cmocka_unit_test(whole_stacks_need_no_note),
		cmocka_unit_test(each_cause_of_a_cut_is_named),
		cmocka_unit_test(what_disagrees_is_a_share_of_what_was_compared),
		cmocka_unit_test(each_number_has_its_field),
		cmocka_unit_test(a_rate_that_was_not_asked_for_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
