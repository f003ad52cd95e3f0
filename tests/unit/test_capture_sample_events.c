// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sample_events.h"

#include "test.h"
#include "../fixtures/rows.h"

static void assert_cpus(const char *text, const char *expected)
{
	bool on[8];

	memset(on, true, sizeof(on));
	assert_int_equal(sample_events_parse_cpus(text, on, 8), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(on[i], expected[i] == '1');
}

TEST_CASE(lists_of_cpus_are_read)
{
	assert_cpus("0-7\n", "11111111");
	assert_cpus("0\n", "10000000");
	assert_cpus("0-2,4,6-7", "11101011");
	assert_cpus("", "00000000");
	/* CPUs that the caller has no room for. */
	assert_cpus("3-4000000000", "00011111");
}

TEST_CASE(other_text_changes_nothing)
{
	static const char *const bad[] = {"x", "1-", "3-1", "1 2", "1--2", "0,x", "-1"};
	bool on[2] = {true, false};

	for (size_t i = 0; i < N_OF(bad); i++) {
		row_equal(bad[i], sample_events_parse_cpus(bad[i], on, 2), -EINVAL);
		assert_true(on[0] && !on[1]);
	}
}

TEST_MAIN(NULL, NULL)
