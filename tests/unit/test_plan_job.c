// SPDX-License-Identifier: Apache-2.0 OR MIT
/* test_plan_file_job.c has what concerns the child. */
#include "plan/job.h"

#include <poll.h>
#include <sys/stat.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/in_child.h"
#include "../fixtures/output.h"
#include "plan/file_job.h"
#include "plan/mine/hits.h"

#define NICE 7 /* a higher nice value needs no privilege */

static unsigned int n_stored;

/* Replace those of the program. */
int plan_cache__load(const struct library_identity *id, bool *by_root, struct plan **out)
{
	return -ENOENT;
}

int plan_cache__store(const struct library_identity *id, const struct plan *plan)
{
	n_stored++;
	return 0;
}

static struct library_file *library;

static struct plan_job *start(void)
{
	struct plan_job *j = NULL;

	assert_int_equal(plan_job__start(library, NICE, &j), 0);
	return j;
}

/* The job fails. `part`, unless NULL, is in its error line. */
static void assert_fails(struct plan_job *j, int err, const char *part)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, plan_job__finish(j, &plan)), err);
	assert_null(plan);
	if (part)
		assert_contains(o.text[1], part);
}

static int setup(void **state)
{
	in_child = NULL;
	n_stored = 0;
	/* On a busy machine a child may take long to exit. */
	file_job_end_ns = 60000000000;
	return 0;
}

static int open_library(void **state)
{
	return fixture_dir_setup(state) || library_file__open(fixture("driver_v0.so"), &library);
}

static int close_library(void **state)
{
	library_file__free(library);
	return fixture_dir_teardown(state);
}

TEST_CASE_WITH(a_plan_comes_as_if_it_were_made_here, setup, NULL)
{
	_plan_ struct plan *here = NULL, *there = NULL;
	_plan_job_ struct plan_job *j = start();

	assert_int_equal(plan__build(library, NULL, &here), 0);
	assert_int_equal(plan_job__finish(j, &there), 0);
	assert_string_equal(there->path, here->path);
	assert_int_equal(there->n_sites, here->n_sites);
	assert_memory_equal(there->build_id, here->build_id, sizeof(here->build_id));
	assert_int_equal(there->code_crc, here->code_crc);
}

TEST_CASE_WITH(one_can_wait_for_it_with_poll, setup, NULL)
{
	_plan_job_ struct plan_job *j = start();
	_plan_ struct plan *plan = NULL;
	int ready;

	while (!(ready = plan_job__read(j))) {
		struct pollfd pfd = {.fd = plan_job__fd(j), .events = POLLIN};

		assert_int_equal(poll(&pfd, 1, -1), 1);
	}
	assert_int_equal(ready, 1);
	assert_int_equal(plan_job__finish(j, &plan), 0);
}

TEST_CASE_WITH(an_error_is_the_one_of_plan_load, setup, NULL)
{
	_plan_job_ struct plan_job *j = NULL;
	_library_file_ struct library_file *other = NULL;

	assert_int_equal(library_file__open(fixture("bodies.so"), &other), 0);
	assert_int_equal(plan_job__start(other, NICE, &j), 0);
	assert_fails(j, -ENOTSUP, "bodies.so");
}

/* Only the parent writes the store, after it has proven the plan. */
TEST_CASE_WITH(the_parent_stores_the_plan, setup, NULL)
{
	_plan_job_ struct plan_job *j = start();
	_plan_ struct plan *plan = NULL;

	assert_int_equal(n_stored, 0);
	assert_int_equal(plan_job__finish(j, &plan), 0);
	assert_int_equal(n_stored, 1);
}

TEST_CASE_WITH(the_hits_come_with_the_plan, setup, NULL)
{
	_plan_job_ struct plan_job *j = NULL;
	_plan_ struct plan *plan = NULL;

	assert_int_equal(plan_job__start_hits(library, NULL, NICE, &j), 0);
	assert_int_equal(plan_job__finish(j, &plan), 0);
	assert_true(plan->n_sites > 0);
	assert_int_equal(n_stored, 1);
	assert_non_null(plan->hits);
	assert_int_equal(plan->hits->n, 0);
}

TEST_CASE_WITH(only_the_hits_of_a_plan_that_is_there_are_looked_for, setup, NULL)
{
	_library_file_ struct library_file *file = NULL;
	struct plan *stored = calloc(1, sizeof(*stored));
	_plan_hits_ struct plan_hits *here = NULL;
	_plan_job_ struct plan_job *j = NULL;
	_plan_ struct plan *plan = NULL;

	assert_int_equal(library_file__open(fixture("hits.so"), &file), 0);
	assert_int_equal(plan_hits__find(file, NULL, &here), 0);
	assert_true(here->n > 0);
	assert_int_equal(plan_job__start_hits(file, stored, NICE, &j), 0);
	assert_int_equal(plan_job__finish(j, &plan), 0);
	assert_ptr_equal(plan, stored);
	assert_int_equal(n_stored, 0);
	assert_int_equal(plan->hits->n + plan->hits->n_unproven, here->n);
	assert_int_equal(plan->hits->filter, here->filter);
	assert_true(plan->hits->n > 0);
}

/* The child has only one pipe. */
/* A malicious file may take over the child, which can then send anything. */
static void send_a_length_that_lies(void)
{
	uint64_t plan_bytes = UINT64_MAX;

	if (write(own_pipe(), &plan_bytes, sizeof(plan_bytes)) != sizeof(plan_bytes))
		_exit(EIO);
	_exit(0);
}

TEST_CASE_WITH(data_from_a_child_process_is_checked, setup, NULL)
{
	_plan_job_ struct plan_job *j = NULL;

	in_child = send_a_length_that_lies;
	assert_int_equal(plan_job__start_hits(library, NULL, NICE, &j), 0);
	assert_fails(j, -EBADMSG, "driver_v0.so");
}

static void exit_silently(void)
{
	_exit(4);
}

TEST_CASE_WITH(an_error_without_a_line_gets_one, setup, NULL)
{
	_plan_job_ struct plan_job *j = NULL;

	in_child = exit_silently;
	j = start();
	assert_fails(j, -4, "driver_v0.so: ");
}

TEST_MAIN(open_library, close_library)
