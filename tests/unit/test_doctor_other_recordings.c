// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "doctor/facts.h"

#include "../fixtures/fake_root.h"

static void no_program_is_no_recording(void **state)
{
	struct other_recordings c;

	other_recordings__find_holders(fake_root, NULL, 0, &c);
	assert_int_equal(c.n + c.held + (uint32_t)c.pid, 0);
	assert_int_equal(c.err, 0);
}

static void holders_are_distinguished_from_leftovers(void **state)
{
	const uint32_t ids[] = {17, 18};
	struct other_recordings c;

	fake_root_file("/proc/40/fdinfo/3", "pos:\t0\nlink_type:\tuprobe_multi\nprog_id:\t170\n");
	fake_root_file("/proc/41/fdinfo/9", "pos:\t0\nprog_type:\t2\nprog_id:\t18\n");
	fake_root_file("/proc/self/fdinfo/9", "prog_id:\t17\n");
	other_recordings__find_holders(fake_root, ids, 2, &c);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.held, 1);
	assert_int_equal(c.pid, 41);
	fake_root_file("/proc/40/fdinfo/4", "prog_id:\t17\n");
	other_recordings__find_holders(fake_root, ids, 2, &c);
	assert_int_equal(c.held, 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_root_make, fake_root_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_program_is_no_recording),
		TEST(holders_are_distinguished_from_leftovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
