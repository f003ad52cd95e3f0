// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_json.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"

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
		cmocka_unit_test(each_number_has_its_field),
		cmocka_unit_test(a_rate_that_was_not_asked_for_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
