// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/job.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"

#define NICE 7 /* worse than ours, which takes no privilege */

enum what { BUILD, DIE, HANG };

static enum what what;

/* In place of the real one: the child's. */
int plan__load(const char *path, struct plan **out)
{
	if (getpriority(PRIO_PROCESS, 0) != NICE)
		return -EPERM;
	if (what == DIE) {
		signal(SIGBUS, SIG_DFL); /* not cmocka's */
		raise(SIGBUS);
	}
	while (what == HANG)
		pause();
	return plan__build(path, out);
}

static int setup(void **state)
{
	(void)state;
	what = BUILD;
	return 0;
}

static void a_plan_comes_as_if_it_were_made_here(void **state)
{
	_plan_ struct plan *here = NULL, *there = NULL;
	_plan_job_ struct plan_job *j = NULL;

	(void)state;
	assert_int_equal(plan__build(fixture("driver_v0.so"), &here), 0);
	assert_int_equal(plan_job__start(fixture("driver_v0.so"), NICE, &j), 0);
	assert_int_equal(plan_job__finish(j, &there), 0);
	assert_string_equal(there->path, here->path);
	assert_int_equal(there->n_sites, here->n_sites);
	assert_memory_equal(there->build_id, here->build_id, sizeof(here->build_id));
	assert_int_equal(there->code_crc, here->code_crc);
}

/* A link of probes that is closed here must go, though a plan is being made. */
static void it_holds_none_of_our_files(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	char byte;
	int fds[2];

	(void)state;
	what = HANG;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(plan_job__start(fixture("driver_v0.so"), NICE, &j), 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
}

static void one_can_wait_for_it_with_poll(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	_plan_ struct plan *plan = NULL;
	int ready;

	(void)state;
	assert_int_equal(plan_job__start(fixture("driver_v0.so"), NICE, &j), 0);
	while (!(ready = plan_job__read(j))) {
		struct pollfd pfd = {.fd = plan_job__fd(j), .events = POLLIN};

		assert_int_equal(poll(&pfd, 1, -1), 1);
	}
	assert_int_equal(ready, 1);
	assert_int_equal(plan_job__finish(j, &plan), 0);
}

static void an_error_is_the_one_of_plan_load(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	struct plan *plan = NULL;
	struct output o;

	(void)state;
	output_begin(&o);
	assert_int_equal(plan_job__start(fixture("no-such.so"), NICE, &j), 0);
	assert_int_equal(plan_job__finish(j, &plan), -ENOENT);
	output_end(&o);
	assert_null(plan);
	assert_contains(o.text[1], "no-such.so");
	output_free(&o);
}

static void a_child_that_dies_is_an_error_and_not_our_end(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	struct plan *plan = NULL;
	struct output o;

	(void)state;
	what = DIE;
	assert_int_equal(plan_job__start(fixture("driver_v0.so"), NICE, &j), 0);
	output_begin(&o);
	assert_int_equal(plan_job__finish(j, &plan), -EIO);
	output_end(&o);
	assert_contains(o.text[1], "ended with signal 7");
	output_free(&o);
}

static void one_that_is_given_up_leaves_no_child(void **state)
{
	struct plan_job *j = NULL;

	(void)state;
	what = HANG;
	assert_int_equal(plan_job__start(fixture("driver_v0.so"), NICE, &j), 0);
	assert_int_equal(plan_job__read(j), 0);
	plan_job__free(j);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	plan_job__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_plan_comes_as_if_it_were_made_here, setup),
		cmocka_unit_test_setup(it_holds_none_of_our_files, setup),
		cmocka_unit_test_setup(one_can_wait_for_it_with_poll, setup),
		cmocka_unit_test_setup(an_error_is_the_one_of_plan_load, setup),
		cmocka_unit_test_setup(a_child_that_dies_is_an_error_and_not_our_end, setup),
		cmocka_unit_test_setup(one_that_is_given_up_leaves_no_child, setup),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
