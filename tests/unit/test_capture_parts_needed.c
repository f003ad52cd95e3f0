// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This file defines fakes of the looks and /proc. The linker prefers them to the real functions. */
#include "capture/parts_needed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc/processes.h"

#include "test.h"
#include "../fixtures/rows.h"

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

/* The process has these arguments, with spaces between them, by /proc; NULL: it is gone. */
static void run(const char *exe, const char *line)
{
	static char args[128];

	world.gone = !line;
	world.exe = exe;
	world.args = args;
	world.len = line && *line ? strlen(line) + 1 : 0;
	snprintf(args, sizeof(args), "%s", line ?: "");
	for (char *space = args; (space = strchr(space, ' '));)
		*space = '\0';
}

TEST_CASE(a_command_line_says_which_parts_are_needed)
{
	static const struct {
		const char *exe, *line;
		uint32_t needed;
		bool cut;
	} rows[] = {
		{"/bin/rustc", "rustc a.rs", 0, false},
		{"/bin/rustc", "rustc -Zthreads=2", THREADS, false},
		{"/bin/clippy-driver", "clippy-driver -Z threads=2", THREADS, false},
		{"/bin/rustc", "rustc -C incremental=d", INCREMENTAL, false},
		{"/bin/rustc", "rustc -Cincremental=d -Zthreads=2", PLAN_PARTS_OPTIONAL, false},
		{"/bin/rustc", "rustc -Zquery-dep-graph", INCREMENTAL, false},
		{"/bin/rustc", "rustc -Zquery_dep_graph", INCREMENTAL, false},
		{"/bin/rustc", "rustc -Zdump_dep-graph", INCREMENTAL, false},
		{"/bin/rustc", "rustc --codegen=incremental=d", INCREMENTAL, false},
		{"/bin/rustdoc", "rustdoc @file -Zthreads=2", THREADS, false},
		/* What cannot be known is needed. */
		{"/bin/rustdoc", "rustdoc @file", PLAN_PARTS_OPTIONAL, true},
		{"/bin/rustc", "", PLAN_PARTS_OPTIONAL, false},
		{"/bin/my-driver", "my-driver a.rs", PLAN_PARTS_OPTIONAL, false},
		{"/bin/rustc (deleted)", "rustc a.rs", PLAN_PARTS_OPTIONAL, false},
		{NULL, "rustc a.rs", PLAN_PARTS_OPTIONAL, false},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		run(rows[i].exe, rows[i].line);
		world.cut = rows[i].cut;
		row_equal(rows[i].line, parts_needed_by(NULL, 7), rows[i].needed);
		world.cut = false;
	}
}

static struct parts_needed *p;

static int begin(void **state)
{
	p = parts_needed__new(NULL);
	return !p;
}

static int end(void **state)
{
	parts_needed__free(p);
	return 0;
}

static uint32_t needed(void)
{
	uint32_t parts;
	int err = parts_needed__find(p, 7, &parts);

	assert_int_equal(err, parts_needed__knows(p, 7) || !world.gone ? 0 : -EAGAIN);
	return parts;
}

/* What the record of an exec asks for; its second argument is `arg`. */
static uint32_t exec_as(const char *name, const char *arg, bool truncated)
{
	struct wire_exec e = {.type = WIRE_EXEC, .pid = 7, .truncated = truncated};

	snprintf(e.comm, sizeof(e.comm), "%s", name);
	e.args_len = (wire_u32)snprintf(e.args, sizeof(e.args), "%s%c%s", name, 0, arg) + 1;
	return parts_needed__exec(p, &e);
}

/* The next process with its number has not asked. */
TEST_CASE_WITH(a_process_that_has_ended_needed_what_its_exec_asked_for, begin, end)
{
	run(NULL, NULL);
	assert_false(parts_needed__knows(p, 7));
	assert_int_equal(needed(), PLAN_PARTS_OPTIONAL);
	assert_int_equal(exec_as("rustc", "-Zthreads=2", false), THREADS);
	assert_true(parts_needed__knows(p, 7));
	assert_int_equal(needed(), THREADS);
	assert_int_equal(exec_as("rustc", "@file", false), PLAN_PARTS_OPTIONAL);
	assert_int_equal(exec_as("rustc", "a.rs", false), 0);
	assert_int_equal(needed(), 0);
	/* It may use rustc's library, which only its mappings show. */
	assert_int_equal(exec_as("my-driver", "a.rs", false), 0);
	assert_int_equal(needed(), PLAN_PARTS_OPTIONAL);
}

/* Its memory is gone, though its state is still that of one that runs. */
TEST_CASE_WITH(a_process_that_is_about_to_end_needed_what_its_exec_asked_for, begin, end)
{
	uint32_t parts;

	run(NULL, "");
	assert_int_equal(parts_needed__find(p, 7, &parts), -EAGAIN);
	exec_as("rustc", "a.rs", false);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(parts_needed__find(p, 7, &parts), 0);
		assert_int_equal(parts, 0);
		world.exe = "/bin/rustc";
	}
}

TEST_CASE_WITH(a_command_line_that_an_exec_has_whole_is_not_read_again, begin, end)
{
	run("/bin/rustc", "rustc a.rs");
	assert_int_equal(needed(), 0);
	exec_as("rustc", "-Zthreads=2", false);
	assert_int_equal(needed(), THREADS);
	/* By another name it may ask for parts by itself. */
	world.exe = "/bin/my-driver";
	assert_int_equal(needed(), PLAN_PARTS_OPTIONAL);
}

/* The record of an exec has the beginning of a long command line only; /proc has more. */
TEST_CASE_WITH(while_a_process_runs_all_of_its_command_line_counts, begin, end)
{
	run("/bin/rustc", "rustc a.rs");
	assert_int_equal(exec_as("rustc", "a.rs", true), 0);
	assert_int_equal(needed(), 0);
	world.gone = true;
	assert_int_equal(needed(), PLAN_PARTS_OPTIONAL);
}

TEST_MAIN(NULL, NULL)
