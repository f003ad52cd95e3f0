// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This program stands for qprof-bpf as well: as "history add", it notes its arguments. */
#include "record/history_queue.h"

#include <fcntl.h>
#include <signal.h>

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "base/first_environ.h"
#include "test.h"

#define LOG "QPROF_TEST_LOG"

/* One write for each process, as they are told apart by lines. */
static int add(int argc, char **argv)
{
	int fd = open(getenv(LOG), O_WRONLY | O_APPEND | O_CREAT, 0600);
	char line[512] = "";

	for (int i = 3; i < argc; i++) {
		strcat(line, argv[i]);
		strcat(line, i + 1 < argc ? " " : "\n");
	}
	if (write(fd, line, strlen(line)) < 0)
		return 1;
	if (strstr(argv[argc - 1], "killed"))
		raise(SIGTERM);
	while (strstr(argv[argc - 1], "slow"))
		pause();
	return 0;
}

/* What was run, in order; and what was said. */
static char *log_of(const struct history_options *o, const char *const *paths, unsigned int seconds,
		    struct output *said)
{
	_history_queue_ struct history_queue *q = NULL;

	unlink(getenv(LOG));
	assert_int_equal(history_queue__new(o, &q), 0);
	for (; *paths; paths++)
		history_queue__put(q, *paths);
	output_begin(said);
	history_queue__finish(q, seconds);
	output_end(said);
	return output_read(getenv(LOG));
}

static void traces_are_added_in_turn(void **state)
{
	static const char *const paths[] = {"a.qpt", "-b.qpt", "c d.qpt", NULL};
	const struct history_options options = {};
	_output_ struct output said = {};
	_free_ char *log = log_of(&options, paths, 60, &said);

	assert_string_equal(log, "-- a.qpt\n-- -b.qpt\n-- c d.qpt\n");
	assert_string_equal(said.text[1], "");
}

static void options_are_passed_on(void **state)
{
	static const char *const paths[] = {"a.qpt", NULL};
	const struct history_options options = {"http://h/d", "night", true, true};
	_output_ struct output said = {};
	_free_ char *log = log_of(&options, paths, 60, &said);

	assert_string_equal(log,
			    "--store http://h/d --label night --with-commands --quiet -- a.qpt\n");
}

static void one_that_is_killed_stops_no_other(void **state)
{
	static const char *const paths[] = {"killed", "b.qpt", NULL};
	const struct history_options options = {};
	_output_ struct output said = {};
	_free_ char *log = log_of(&options, paths, 60, &said);

	assert_string_equal(log, "-- killed\n-- b.qpt\n");
	assert_one_line(said.text[1]);
	assert_contains(said.text[1], "a build is not in the history: signal 15");
}

static void what_takes_too_long_is_counted(void **state)
{
	static const char *const paths[] = {"slow", "b.qpt", NULL};
	const struct history_options options = {};
	_output_ struct output said = {};
	_free_ char *log = log_of(&options, paths, 0, &said);

	assert_one_line(said.text[1]);
	assert_contains(said.text[1], "2 builds are not in the history yet");
}

static void a_tick_never_waits(void **state)
{
	_history_queue_ struct history_queue *q = NULL;
	const struct history_options options = {};
	_output_ struct output said = {};

	assert_int_equal(history_queue__new(&options, &q), 0);
	history_queue__tick(q);
	history_queue__put(q, "slow");
	history_queue__tick(q);
	history_queue__tick(q);
	output_begin(&said);
	history_queue__finish(q, 0);
	output_end(&said);
	assert_contains(said.text[1], "1 build is not in the history yet: add its trace");
}

/* It comes before all environments that the queue hands on. */
static int make_log(void **state)
{
	return directory_make(state) || setenv(LOG, directory_path("log"), 1);
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, make_log, directory_remove)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_LOG(traces_are_added_in_turn),
		WITH_LOG(options_are_passed_on),
		WITH_LOG(one_that_is_killed_stops_no_other),
		WITH_LOG(what_takes_too_long_is_counted),
		WITH_LOG(a_tick_never_waits),
	};

	if (argc > 3 && !strcmp(argv[1], "history"))
		return add(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
