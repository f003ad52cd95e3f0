// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/execs.h"

#include "test.h"

#define MS UINT64_C(1000000)

/* A loader takes 20 ms. Several looks fall into that time, but there are few in all. */
TEST_CASE(looks_become_rarer_and_end)
{
	uint64_t age = 0, pause, last = 0;
	unsigned int early = 0, all = 0;

	while ((pause = execs_pause_ns(age))) {
		assert_true(pause >= last && pause <= 20 * MS);
		last = pause;
		age += pause;
		all++;
		early += age < 20 * MS;
	}
	assert_true(age >= 1000 * MS);
	assert_in_range(early, 10, 20);
	assert_in_range(all, early, 150);
}

TEST_CASE(nothing_can_be_freed)
{
	execs__free(NULL);
}

TEST_MAIN(NULL, NULL)
