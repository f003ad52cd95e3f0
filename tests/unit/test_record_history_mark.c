// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This program stands for qprof-bpf as well: "history add" fails of traces of user 9, and
 * cannot read those of user 8. */
#include "record/history_mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "base/cleanup.h"
#include "base/first_environ.h"
#include "options/exit_code.h"
#include "test.h"

#define LOG "QPROF_TEST_LOG"

static int add(const char *path)
{
	int fd = open(getenv(LOG), O_WRONLY | O_APPEND | O_CREAT, 0600), status = EXIT_CODE_OK;

	if (strstr(path, "-u8-"))
		status = EXIT_CODE_DAMAGED;
	if (strstr(path, "-u9-"))
		status = EXIT_CODE_FAILURE;
	return dprintf(fd, "%s\n", strrchr(path, '/') + 1) < 0 ? EXIT_CODE_FAILURE : status;
}

static bool never(void *ctx)
{
	return false;
}

/* In the order of their names, and all later than what is there. */
static void make_trace(const char *name)
{
	static time_t now;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

	now = now ?: time(NULL) + 10000;
	output_write(directory_path(name), "");
	times[1].tv_sec = ++now;
	assert_int_equal(utimensat(AT_FDCWD, directory_path(name), times, 0), 0);
}

/*
 * A recording with the store, which seals `traces`, and is killed when `n` of them are added.
 * Returns the names that were added.
 */
static char *record(const char *store, const char *const *traces, size_t n)
{
	__cleanup(trace_dir__close) struct trace_dir d = TRACE_DIR_NONE;
	const struct history_options options = {.store = store};
	_history_queue_ struct history_queue *q = NULL;
	_output_ struct output said = {};

	unlink(getenv(LOG));
	output_write(getenv(LOG), "");
	assert_int_equal(trace_dir__open(&d, directory), 0);
	assert_int_equal(history_queue__new(&options, &q), 0);
	output_begin(&said);
	history_mark__catch_up(&d, store, q);
	for (; *traces; traces++) {
		_free_ char *path = strdup(directory_path(*traces));

		make_trace(*traces);
		if (n && n--)
			history_queue__put(q, path);
	}
	history_queue__finish(q, 60, never, NULL);
	output_end(&said);
	return output_read(getenv(LOG));
}

#define NONE ((const char *const[]){NULL})
#define A    "qprof-20260101T000000Z-u1-p1.qpt"
#define B    "qprof-20260101T000001Z-u1-p1.qpt"
#define C    "qprof-20260101T000002Z-u1-p1.qpt"
#define BAD  "qprof-20260101T000003Z-u9-p1.qpt"
#define CUT  "qprof-20260101T000003Z-u8-p1.qpt"
#define D    "qprof-20260101T000004Z-u1-p1.qpt"

static int make_log(void **state)
{
	return directory_make(state) || setenv(LOG, directory_path("log"), 1);
}

TEST_CASE_WITH(what_a_killed_recording_left_is_added, make_log, directory_remove)
{
	static const char *const traces[] = {A, B, C, NULL};
	_free_ char *killed = NULL, *next = NULL, *last = NULL;

	make_trace("qprof-20250101T000000Z-u1-p1.qpt");
	utimensat(AT_FDCWD, directory_path("qprof-20250101T000000Z-u1-p1.qpt"),
		  (struct timespec[2]){{1, 0}, {1, 0}}, 0);
	killed = record("a.db", traces, 1);
	assert_string_equal(killed, A "\n");
	next = record("a.db", NONE, 0);
	/* The one that has the time of the mark is there already. */
	assert_string_equal(next, A "\n" B "\n" C "\n");
	last = record("a.db", NONE, 0);
	assert_string_equal(last, C "\n");
}

TEST_CASE_WITH(another_store_begins_anew, make_log, directory_remove)
{
	static const char *const traces[] = {A, B, NULL};
	_free_ char *killed = record("a.db", traces, 0), *next = NULL;

	for (int i = 0; i < 2; i++)
		utimensat(AT_FDCWD, directory_path(traces[i]), (struct timespec[2]){{1, 0}, {1, 0}},
			  0);
	next = record("b.db", NONE, 0);
	assert_string_equal(next, "");
}

TEST_CASE_WITH(one_that_fails_is_tried_again, make_log, directory_remove)
{
	static const char *const traces[] = {A, BAD, D, NULL};
	_free_ char *first = record("a.db", traces, 3), *next = NULL;

	assert_string_equal(first, A "\n" BAD "\n" D "\n");
	next = record("a.db", NONE, 0);
	assert_string_equal(next, A "\n" BAD "\n" D "\n");
}

/* Else all after it would be added anew by each recording. */
TEST_CASE_WITH(one_that_cannot_be_read_is_not_tried_again, make_log, directory_remove)
{
	static const char *const traces[] = {A, CUT, D, NULL};
	_free_ char *first = record("a.db", traces, 3), *next = NULL;

	assert_string_equal(first, A "\n" CUT "\n" D "\n");
	next = record("a.db", NONE, 0);
	assert_string_equal(next, D "\n");
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "history"))
		return add(argv[argc - 1]);
	return test_cases__run(NULL, NULL);
}
