// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/ended.h"

#include <string.h>

#include "test.h"

static void add(struct ended *e, pid_t pid, uint64_t time_ns)
{
	char path[] = "librustc_driver-1.so";
	const struct mapped_library library = {path, time_ns, 1, 2};

	ended__add(e, pid, &library);
	memset(path, 'x', sizeof(path) - 1);
}

TEST_CASE(a_mapping_is_of_the_exec_before_it)
{
	const struct mapped_library *library;
	struct ended e = {0};

	assert_null(ended__find(&e, 7, 0));
	add(&e, 7, 100);
	add(&e, 7, 300);
	library = ended__find(&e, 7, 200);
	assert_non_null(library);
	assert_int_equal(library->time_ns, 300);
	assert_string_equal(library->path, "librustc_driver-1.so");
	assert_null(ended__find(&e, 7, 400));
	assert_null(ended__find(&e, 8, 0));
	ended__destroy(&e);
}

TEST_CASE(the_last_ones_are_kept)
{
	struct ended e = {0};

	for (pid_t pid = 1; pid <= ENDED_KEPT + 1; pid++)
		add(&e, pid, 100);
	assert_null(ended__find(&e, 1, 0));
	assert_non_null(ended__find(&e, 2, 0));
	assert_non_null(ended__find(&e, ENDED_KEPT + 1, 0));
	ended__destroy(&e);
}

TEST_MAIN(NULL, NULL)
