// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This file defines fakes of the looks and /proc. The linker prefers them to the real functions. */
#include "capture/parts_needed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc/processes.h"

#include "test.h"

#define THREADS	    PLAN_PART_BIT(PLAN_PART_THREADS)
#define INCREMENTAL PLAN_PART_BIT(PLAN_PART_INCREMENTAL)

static struct {
	const char *exe;
	const char *args;
	size_t len;
	bool cut;
	bool gone;
} world;

char *process_executable(pid_t pid)
{
	return world.exe && !world.gone ? strdup(world.exe) : NULL;
}

bool process_is_running(pid_t pid)
{
	return !world.gone;
}

int broker__arguments(struct broker *l, pid_t pid, struct arguments *out)
{
	if (world.gone)
		return 0;
	out->bytes = malloc(world.len + 1);
	assert_non_null(out->bytes);
	memcpy(out->bytes, world.args, world.len);
	out->size = world.len;
	out->cut = world.cut;
	return 0;
}

static void assert_needed(const char *exe, const char *args, size_t len, uint32_t needed)
{
	world.exe = exe;
	world.args = args;
	world.len = len;
	assert_int_equal(parts_needed_by(NULL, 7), needed);
}

TEST_CASE(a_command_line_says_which_parts_are_needed)
{
	world.gone = false;
	assert_needed("/bin/rustc", "rustc\0a.rs", 11, 0);
	assert_needed("/bin/rustc", "rustc\0-Zthreads=2", 18, THREADS);
	assert_needed("/bin/clippy-driver", "clippy-driver\0-Z\0threads=2", 27, THREADS);
	assert_needed("/bin/rustc", "rustc\0-C\0incremental=d", 23, INCREMENTAL);
	assert_needed("/bin/rustc", "rustc\0-Cincremental=d\0-Zthreads=2", 34, PLAN_PARTS_OPTIONAL);
	assert_needed("/bin/rustc", "rustc\0-Zquery-dep-graph", 24, INCREMENTAL);
	assert_needed("/bin/rustc", "rustc\0-Zquery_dep_graph", 24, INCREMENTAL);
	assert_needed("/bin/rustc", "rustc\0-Zdump_dep-graph", 23, INCREMENTAL);
	assert_needed("/bin/rustc", "rustc\0--codegen=incremental=d", 30, INCREMENTAL);
	assert_needed("/bin/rustdoc", "rustdoc\0@file\0-Zthreads=2", 26, THREADS);
}

TEST_CASE(what_cannot_be_known_is_needed)
{
	world.gone = false;
	world.cut = true;
	assert_needed("/bin/rustdoc", "rustdoc\0@file", 14, PLAN_PARTS_OPTIONAL);
	world.cut = false;
	assert_needed("/bin/rustc", "", 0, PLAN_PARTS_OPTIONAL);
	assert_needed("/bin/my-driver", "my-driver\0a.rs", 15, PLAN_PARTS_OPTIONAL);
	assert_needed("/bin/rustc (deleted)", "rustc\0a.rs", 11, PLAN_PARTS_OPTIONAL);
	assert_needed(NULL, "rustc\0a.rs", 11, PLAN_PARTS_OPTIONAL);
}

static uint32_t needed(struct parts_needed *p)
{
	uint32_t parts;
	int err = parts_needed__find(p, 7, &parts);

	assert_int_equal(err, parts_needed__knows(p, 7) || !world.gone ? 0 : -EAGAIN);
	return parts;
}

static struct wire_exec exec_of(const char *name, const char *args, size_t len)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = 7, .args_len = (wire_u32)len};

	snprintf(e.comm, sizeof(e.comm), "%s", name);
	memcpy(e.args, args, len);
	return e;
}

/* The next process with its number has not asked. */
TEST_CASE(a_process_that_has_ended_needed_what_its_exec_asked_for)
{
	struct parts_needed *p = parts_needed__new(NULL);
	struct wire_exec asks = exec_of("rustc", "rustc\0-Zthreads=2", 18),
			 file = exec_of("rustc", "rustc\0@file", 11),
			 other = exec_of("rustc", "rustc\0a.rs", 11);

	assert_non_null(p);
	world.exe = "/bin/rustc";
	world.args = "rustc\0a.rs";
	world.len = 11;
	world.gone = true;
	assert_false(parts_needed__knows(p, 7));
	assert_int_equal(needed(p), PLAN_PARTS_OPTIONAL);
	assert_int_equal(parts_needed__exec(p, &asks), THREADS);
	assert_true(parts_needed__knows(p, 7));
	assert_int_equal(needed(p), THREADS);
	assert_int_equal(parts_needed__exec(p, &file), PLAN_PARTS_OPTIONAL);
	assert_int_equal(parts_needed__exec(p, &other), 0);
	assert_int_equal(needed(p), 0);
	parts_needed__free(p);
}

/* Its memory is gone, though its state is still that of one that runs. */
TEST_CASE(a_process_that_is_about_to_end_needed_what_its_exec_asked_for)
{
	struct parts_needed *p = parts_needed__new(NULL);
	struct wire_exec asks = exec_of("rustc", "rustc\0a.rs", 11);
	uint32_t parts;

	assert_non_null(p);
	world.exe = NULL;
	world.len = 0;
	world.gone = false;
	assert_int_equal(parts_needed__find(p, 7, &parts), -EAGAIN);
	parts_needed__exec(p, &asks);
	assert_int_equal(parts_needed__find(p, 7, &parts), 0);
	assert_int_equal(parts, 0);
	world.exe = "/bin/rustc";
	assert_int_equal(parts_needed__find(p, 7, &parts), 0);
	assert_int_equal(parts, 0);
	parts_needed__free(p);
}

TEST_CASE(a_command_line_that_an_exec_has_whole_is_not_read_again)
{
	struct parts_needed *p = parts_needed__new(NULL);
	struct wire_exec whole = exec_of("rustc", "rustc\0-Zthreads=2", 18);

	assert_non_null(p);
	world.exe = "/bin/rustc";
	world.args = "rustc\0a.rs";
	world.len = 11;
	world.gone = false;
	assert_int_equal(needed(p), 0);
	parts_needed__exec(p, &whole);
	assert_int_equal(needed(p), THREADS);
	/* By another name it may ask for parts by itself. */
	world.exe = "/bin/my-driver";
	assert_int_equal(needed(p), PLAN_PARTS_OPTIONAL);
	parts_needed__free(p);
}

/* The record of an exec has the beginning of a long command line only; /proc has more. */
TEST_CASE(while_a_process_runs_all_of_its_command_line_counts)
{
	struct parts_needed *p = parts_needed__new(NULL);
	struct wire_exec cut = exec_of("rustc", "rustc\0a.rs", 11);

	assert_non_null(p);
	cut.truncated = true;
	world.exe = "/bin/rustc";
	world.args = "rustc\0a.rs";
	world.len = 11;
	world.gone = false;
	assert_int_equal(parts_needed__exec(p, &cut), 0);
	assert_int_equal(needed(p), 0);
	world.gone = true;
	assert_int_equal(needed(p), PLAN_PARTS_OPTIONAL);
	parts_needed__free(p);
}

/* It may use rustc's library, which only its mappings show. */
TEST_CASE(a_program_of_another_name_may_have_needed_all)
{
	struct parts_needed *p = parts_needed__new(NULL);
	struct wire_exec other = exec_of("my-driver", "my-driver\0a.rs", 15);

	assert_non_null(p);
	world.gone = true;
	assert_int_equal(parts_needed__exec(p, &other), 0);
	assert_int_equal(needed(p), PLAN_PARTS_OPTIONAL);
	parts_needed__free(p);
}

TEST_MAIN(NULL, NULL)
