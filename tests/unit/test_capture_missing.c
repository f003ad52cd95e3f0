// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/missing.h"

#include "capture/broker.h"

#include "test.h"
#include "../fixtures/output.h"

/* No process has one of these numbers. */
#define PID 5000000

/* Of each test, which ends the output. */
static struct missing m;
static struct refusals r;
static struct output o;

static int begin(void **state)
{
	m = (struct missing){0};
	r = (struct refusals){0};
	output_begin(&o);
	return 0;
}

static int end(void **state)
{
	output_free(&o);
	return 0;
}

TEST_CASE_WITH(a_compiler_is_counted_once, begin, end)
{
	missing__unread(&m, PID, "a.so");
	missing__ended(&m, PID);
	missing__refused(&m, PID, 1, "a.so", -ESRCH);
	missing__ended(&m, PID + 1);
	output_end(&o);
	assert_int_equal(m.n, 2);
	assert_int_equal(occurrences(o.text[1], "\n"), 2);
	assert_contains(o.text[1], "process 5000000 used a.so and exited");
	assert_contains(o.text[1], "process 5000001 ended before its probes were there");
}

TEST_CASE_WITH(the_first_ones_are_named_and_all_are_counted, begin, end)
{
	for (pid_t i = 0; i < 10; i++)
		missing__unread(&m, PID + i, "a.so");
	missing__print(&m);
	assert_int_equal(m.n, 10);
	for (pid_t i = 10; i < 12; i++)
		missing__refused(&m, PID + i, 1, "a.so", -EIO);
	for (pid_t i = 0; i < 12; i++)
		missing__late(&m, PID + i, "a.so");
	missing__print(&m);
	output_end(&o);
	assert_int_equal(occurrences(o.text[1], "process 50000"), 20);
	assert_int_equal(occurrences(o.text[1], "compilers are missing"), 1);
	assert_contains(o.text[1], "12 compilers are missing");
	assert_contains(o.text[1], "12 compilers had begun before the probes");
}

TEST_CASE_WITH(two_execs_of_one_compiler_are_late_once, begin, end)
{
	missing__late(&m, PID, "a.so");
	missing__late(&m, PID, "b.so");
	output_end(&o);
	assert_int_equal(m.n_late, 1);
	assert_int_equal(m.n, 0);
	assert_int_equal(occurrences(o.text[1], "\n"), 1);
	assert_contains(o.text[1], "probes of a.so");
}

TEST_CASE_WITH(an_act_of_its_user_is_counted_for_the_user, begin, end)
{
	for (pid_t i = 0; i < 3; i++)
		missing__refused(&m, PID + i, 1001, "a.so", -EDQUOT);
	missing__refused(&m, PID + 3, 1001, "a.so", -BROKER_SERVED);
	missing__print(&m);
	output_end(&o);
	assert_int_equal(m.n, 4);
	assert_contains(o.text[1], "3 compilers are missing: user 1001 had too many libraries");
	assert_contains(o.text[1], "1 compiler is missing: user 1001 had the library on FUSE");
}

TEST_CASE_WITH(a_reason_is_named, begin, end)
{
	missing__refused(&m, PID, 1, "a.so", -ESRCH);
	missing__refused(&m, PID + 1, 1, "b.so", -EIO);
	missing__unfollowed(&m, PID + 2, "c.so", -E2BIG);
	missing__unfollowed(&m, PID + 3, "c.so", -E2BIG);
	output_end(&o);
	assert_contains(o.text[1], "ended before the probes of a.so were there");
	assert_contains(o.text[1], "uses b.so, which cannot be attached to");
	assert_contains(o.text[1], "cannot follow process 5000002: Argument list too long");
	assert_int_equal(occurrences(o.text[1], "cannot follow"), 1);
	assert_int_equal(occurrences(o.text[1], "used c.so"), 2);
	assert_int_equal(m.n, 4);
}

TEST_CASE_WITH(each_user_is_reported_once_and_counted, begin, end)
{
	for (int i = 0; i < 5; i++)
		refusals__add(&r, 1001, REFUSAL_MANY);
	refusals__add(&r, 1002, REFUSAL_MANY);
	refusals__add(&r, 1002, REFUSAL_SERVED);
	output_end(&o);
	assert_int_equal(occurrences(o.text[1], "\n"), 3);
	end(NULL);
	output_begin(&o);
	refusals__print(&r);
	output_end(&o);
	assert_contains(o.text[1], "5 compilers are missing: user 1001 had too many");
	assert_contains(o.text[1], "1 compiler is missing: user 1002 had too many");
	assert_contains(o.text[1], "1 compiler is missing: user 1002 had the library on FUSE");
}

TEST_CASE_WITH(many_users_are_counted_together, begin, end)
{
	for (uid_t uid = 0; uid < REFUSALS_USERS + 7; uid++)
		refusals__add(&r, uid, REFUSAL_MANY);
	output_end(&o);
	assert_int_equal(occurrences(o.text[1], "\n"), REFUSALS_USERS);
	end(NULL);
	output_begin(&o);
	refusals__print(&r);
	output_end(&o);
	assert_contains(o.text[1],
			"7 compilers are missing for the same reason; other users started them");
}

TEST_MAIN(NULL, NULL)
