// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/off_cpu.h"

#include "test.h"

static const struct wire_off_cpu sound = {
	.type = WIRE_OFF_CPU,
	.reason = WIRE_OFF_WAITING,
	.depth = 3,
	.pid = 1,
	.tid = 2,
	.flags = WIRE_SPAN_LEFT,
	.start_ns = 10,
	.end_ns = 20,
};

static void a_record_is_a_span(void **state)
{
	struct trace_span s = off_cpu__span(&sound);

	assert_string_equal(off_cpu__text(&sound), TRACE_OFF_WAITING);
	assert_int_equal(s.kind, TRACE_KIND_OFF_CPU);
	assert_int_equal(s.flags, TRACE_SPAN_LEFT);
	assert_int_equal(s.depth, 3);
	assert_int_equal(s.tid, 2);
	assert_int_equal(s.start_ns, 10);
	assert_int_equal(s.end_ns, 20);
	assert_int_equal(s.invocation, TRACE_NO_INVOCATION);
}

static void every_reason_has_a_text(void **state)
{
	struct wire_off_cpu r = sound;

	for (r.reason = WIRE_OFF_PREEMPTED; r.reason < WIRE_OFF_MAX; r.reason++)
		assert_non_null(off_cpu__text(&r));
	assert_null(off_cpu__text(&r));
	r.reason = 0;
	assert_null(off_cpu__text(&r));
}

static void a_malformed_record_has_no_text(void **state)
{
	struct wire_off_cpu backwards = sound, flags = sound;

	backwards.end_ns = 9;
	assert_null(off_cpu__text(&backwards));
	flags.flags = WIRE_SPAN_UNWOUND;
	assert_null(off_cpu__text(&flags));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_a_span),
		cmocka_unit_test(every_reason_has_a_text),
		cmocka_unit_test(a_malformed_record_has_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
