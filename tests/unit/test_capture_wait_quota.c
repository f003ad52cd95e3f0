// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/wait_quota.h"

#include "test.h"

#define OURS	1000
#define ALICE	1001
#define BOB	1002
#define LATE_NS 400000000ull

/* Get late answers one after the other, until patience runs out. Returns their number. */
static unsigned int ask_on(struct wait_quota *p, uid_t uid, uint64_t *now_ns)
{
	unsigned int n = 0;

	while (wait_quota__is_left(p, uid, *now_ns) && n < 1000) {
		wait_quota__waited(p, uid, *now_ns, *now_ns + LATE_NS);
		*now_ns += LATE_NS;
		n++;
	}
	return n;
}

TEST_CASE(a_user_without_answers_is_given_up)
{
	struct wait_quota p = {.invoker = OURS};

	for (int i = 0; i < WAIT_QUOTA_STRIKES; i++) {
		assert_true(wait_quota__is_left(&p, ALICE, 1));
		wait_quota__strike(&p, ALICE, 1);
	}
	assert_false(wait_quota__is_left(&p, ALICE, UINT64_MAX / 2));
	assert_true(wait_quota__is_left(&p, BOB, 1));
}

TEST_CASE(late_answers_use_up_what_there_is_at_once)
{
	struct wait_quota p = {.invoker = OURS};
	uint64_t now_ns = 1000000000;
	unsigned int n = ask_on(&p, ALICE, &now_ns);

	/* The last answer may begin just before the end. */
	assert_in_range(n * LATE_NS, WAIT_QUOTA_WAIT_NS, WAIT_QUOTA_WAIT_NS + 2 * LATE_NS);
	assert_true(wait_quota__is_left(&p, BOB, now_ns));
}

TEST_CASE(in_the_long_run_late_answers_take_their_share)
{
	const uint64_t run_ns = 1000000000000;
	struct wait_quota p = {.invoker = OURS};
	uint64_t waited_ns = 0;

	for (uint64_t now_ns = 1; now_ns < run_ns; now_ns += 10000000) {
		uint64_t begin_ns = now_ns;

		waited_ns += ask_on(&p, ALICE, &now_ns) * LATE_NS;
		assert_true(now_ns >= begin_ns);
	}
	assert_in_range(waited_ns, run_ns / WAIT_QUOTA_SHARE / 2,
			run_ns / WAIT_QUOTA_SHARE + 2 * WAIT_QUOTA_WAIT_NS);
}

TEST_CASE(quick_answers_are_free)
{
	struct wait_quota p = {.invoker = OURS};

	for (uint64_t i = 0; i < 10000; i++) {
		assert_true(wait_quota__is_left(&p, ALICE, i * WAIT_QUOTA_FREE_NS));
		wait_quota__waited(&p, ALICE, i * WAIT_QUOTA_FREE_NS, (i + 1) * WAIT_QUOTA_FREE_NS);
	}
}

TEST_CASE(root_and_the_invoker_have_no_bound)
{
	struct wait_quota p = {.invoker = OURS};
	const uid_t trusted[] = {0, OURS};
	uint64_t now_ns = 1;

	for (int i = 0; i < 2; i++) {
		for (int n = 0; n < 2 * WAIT_QUOTA_STRIKES; n++)
			wait_quota__strike(&p, trusted[i], 1);
		assert_int_equal(ask_on(&p, trusted[i], &now_ns), 1000);
	}
	assert_int_equal(p.n, 0);
}

TEST_CASE(too_many_users_share_one_account)
{
	struct wait_quota p = {.invoker = OURS};

	for (uid_t uid = 2000; uid < 2000 + WAIT_QUOTA_USERS; uid++)
		wait_quota__waited(&p, uid, 0, LATE_NS);
	assert_int_equal(p.n, WAIT_QUOTA_USERS);
	for (uid_t uid = 5000; uid < 5000 + WAIT_QUOTA_STRIKES; uid++)
		wait_quota__strike(&p, uid, LATE_NS);
	assert_false(wait_quota__is_left(&p, 9000, 1));
	assert_true(wait_quota__is_left(&p, 2000, LATE_NS));
}

/* SIGSTOP may have stopped the recording during the answer. */
TEST_CASE(one_answer_costs_only_so_much)
{
	struct wait_quota p = {.invoker = OURS};

	wait_quota__waited(&p, ALICE, 1, 3600000000000);
	assert_true(wait_quota__is_left(&p, ALICE, 3600000000000));
}

TEST_CASE(an_account_with_nothing_in_it_is_used_again)
{
	const uint64_t later_ns = 1000 * LATE_NS;
	struct wait_quota p = {.invoker = OURS};

	for (uid_t uid = 2000; uid < 2000 + 10 * WAIT_QUOTA_USERS; uid++)
		wait_quota__waited(&p, uid, 0, WAIT_QUOTA_FREE_NS);
	assert_int_equal(p.n, 0);
	for (uid_t uid = 2000; uid < 2000 + WAIT_QUOTA_USERS; uid++)
		wait_quota__waited(&p, uid, 0, LATE_NS);
	for (int i = 0; i < WAIT_QUOTA_STRIKES; i++)
		wait_quota__strike(&p, ALICE, later_ns);
	assert_false(wait_quota__is_left(&p, ALICE, later_ns));
	assert_true(wait_quota__is_left(&p, BOB, later_ns));
}

TEST_MAIN(NULL, NULL)
