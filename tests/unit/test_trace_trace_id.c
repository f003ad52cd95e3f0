// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/trace_id.h"

#include "test.h"

static const struct trace_info info = {
	.tool = (char *)"qprof-bpf 0.1", .host = (char *)"h", .clock_start_ns = 5};
static const struct trace_process first = {
	.pid = 7, .start_ns = 9, .command = (char *)"rustc --crate-name a"};

static bool same(struct trace_id a, struct trace_id b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static void the_text_has_the_usual_form(void **state)
{
	const struct trace_id id = {{0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x49, 0x78, 0x86, 0x95,
				     0xa4, 0xb3, 0xc2, 0xd1, 0xe0, 0xff}};
	char text[TRACE_ID_TEXT];

	trace_id__text(&id, text);
	assert_string_equal(text, "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff");
}

static void every_new_trace_has_another(void **state)
{
	struct trace_id a = {}, b = {};
	char text[TRACE_ID_TEXT];

	assert_false(trace_id__is_set(&a));
	assert_int_equal(trace_id__make(&a), 0);
	assert_int_equal(trace_id__make(&b), 0);
	assert_true(trace_id__is_set(&a));
	assert_false(same(a, b));
	trace_id__text(&a, text);
	assert_int_equal(text[14], '4');
	assert_non_null(strchr("89ab", text[19]));
}

static void a_trace_keeps_its_id(void **state)
{
	struct trace_info with = info;

	assert_int_equal(trace_id__make(&with.id), 0);
	assert_true(same(trace_id_of(&with, &first), with.id));
	assert_true(same(trace_id_of(&with, NULL), with.id));
}

static void the_beginning_stands_for_a_missing_id(void **state)
{
	struct trace_id id = trace_id_of(&info, &first);
	struct trace_info other = info;
	struct trace_process other_first = first;
	char text[TRACE_ID_TEXT];

	trace_id__text(&id, text);
	/* It is in the stores of users: it must not change. */
	assert_string_equal(text, "d9cfc1a6-7191-8faf-9770-03e7618687c3");
	assert_true(same(id, trace_id_of(&info, &first)));
	assert_false(same(id, trace_id_of(&info, NULL)));
	other.realtime_start_ns++;
	assert_false(same(id, trace_id_of(&other, &first)));
	other_first.command = (char *)"rustc --crate-name b";
	assert_false(same(id, trace_id_of(&info, &other_first)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_has_the_usual_form),
		cmocka_unit_test(every_new_trace_has_another),
		cmocka_unit_test(a_trace_keeps_its_id),
		cmocka_unit_test(the_beginning_stands_for_a_missing_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
