// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Where captures work, the doctor's trials succeed, and it sees other captures. */
#include "doctor/captures.h"
#include "doctor/trials.h"

#include "capture.h"

static void trials_succeed_and_leave_nothing(void **state)
{
	struct doctor_trials t;
	struct captures before, after;

	(void)state;
	need_capture();
	captures__find(&before);
	trials__run(&t);
	assert_int_equal(t.load, 0);
	assert_int_equal(t.ring, 0);
	assert_int_equal(t.tracepoint, 0);
	assert_int_equal(t.typed, 0);
	assert_int_equal(t.perf_uprobe, 0);
	assert_int_equal(t.record, 0);
	assert_string_equal(t.why, "");
	assert_string_equal(t.attach, t.uprobe_multi ? "perf events" : "uprobe_multi");
	assert_true(t.costs.emulated.hit_ps > 0);
	captures__find(&after);
	assert_int_equal(after.err, 0);
	assert_true(after.held <= before.held);
}

static void a_capture_of_ours_is_seen(void **state)
{
	struct kernel_options opt = {.ring_bytes = 1 << 20};
	_kernel_ struct kernel *k = NULL;
	struct captures c;

	(void)state;
	need_capture();
	assert_int_equal(kernel__open(&opt, &k), 0);
	captures__find(&c);
	assert_int_equal(c.err, 0);
	assert_true(c.n > 0 && c.held > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trials_succeed_and_leave_nothing),
		cmocka_unit_test(a_capture_of_ours_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
