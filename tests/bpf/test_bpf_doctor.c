// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Where captures work, the doctor's trials succeed, and the doctor finds other captures. */
#include "doctor/facts.h"

#include "capture.h"

TEST_CASE(trials_succeed_and_leave_nothing)
{
	struct doctor_trials t;
	struct other_recordings before, after;

	need_capture();
	other_recordings__find(&before);
	trials__run(&t);
	assert_int_equal(t.load, 0);
	assert_int_equal(t.ring, 0);
	assert_int_equal(t.tracepoint, 0);
	assert_int_equal(t.typed, 0);
	assert_int_equal(t.perf_uprobe, 0);
	assert_int_equal(t.record, 0);
	assert_string_equal(t.why, "");
	assert_string_equal(t.attach, t.uprobe_multi ? "perf events" : "uprobe_multi");
	assert_int_equal(t.mappings, 0);
	assert_false(t.bpf_filtered || t.no_mappings.filtered);
	assert_true(t.costs.emulated.hit_ps > 0);
	assert_true(t.costs.rehearsal.called && t.costs.rehearsal.written);
	assert_true(t.costs.rehearsal.spans > 0);
	assert_true(t.costs.rehearsal.counters[WIRE_COUNT_HITS] >= 2 * t.costs.rehearsal.spans);
	assert_int_equal(t.costs.rehearsal.counters[WIRE_LOST_NO_STORAGE], 0);
	/* The kernel frees a program, and a process of ours removes perf events, some seconds
	 * later. */
	for (int tries = 0; tries < 600; tries++) {
		usleep(100000);
		other_recordings__find(&after);
		if (after.err || after.held <= before.held)
			break;
	}
	assert_int_equal(after.err, 0);
	assert_true(after.held <= before.held);
}

TEST_CASE(a_capture_of_ours_is_seen)
{
	struct kernel_options opt = {.ring_bytes = 1 << 20};
	_kernel_ struct kernel *k = NULL;
	struct other_recordings c;

	need_capture();
	assert_int_equal(kernel__open(&opt, &k), 0);
	other_recordings__find(&c);
	assert_int_equal(c.err, 0);
	assert_true(c.n > 0 && c.held > 0);
}

TEST_MAIN(NULL, NULL)
