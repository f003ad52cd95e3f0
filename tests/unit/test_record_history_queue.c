// SPDX-License-Identifier: Apache-2.0 OR MIT
/* This program stands for qprof-bpf as well: as "history add", it notes its arguments. */
#include "record/history_queue.h"

#include <fcntl.h>
#include <signal.h>

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/rows.h"
#include "base/first_environ.h"
#include "test.h"

#define LOG "QPROF_TEST_LOG"

/* Instead of the arguments: the capabilities, and whom sudo names. */
static void note_rights(char *line, size_t size)
{
	_fclose_ FILE *f = fopen("/proc/self/status", "r");
	char status[256];

	while (fgets(status, sizeof(status), f))
		if (!strncmp(status, "CapEff:", 7) || !strncmp(status, "CapPrm:", 7))
			snprintf(line, size, "%llx %s\n", strtoull(status + 7, NULL, 16),
				 getenv("SUDO_UID") ?: "nobody");
}

/* One write for each process, as they are told apart by lines. */
static int add(int argc, char **argv)
{
	int fd = open(getenv(LOG), O_WRONLY | O_APPEND | O_CREAT, 0600);
	char line[512] = "";

	for (int i = 3; i < argc; i++) {
		strcat(line, argv[i]);
		strcat(line, i + 1 < argc ? " " : "\n");
	}
	if (strstr(argv[argc - 1], "rights"))
		note_rights(line, sizeof(line));
	if (write(fd, line, strlen(line)) < 0)
		return 1;
	if (strstr(argv[argc - 1], "killed"))
		raise(SIGTERM);
	while (strstr(argv[argc - 1], "slow"))
		pause();
	return 0;
}

static bool as_told(void *ends)
{
	return *(bool *)ends;
}

/* The commands that were run, in order, and the messages. */
static char *log_of(const struct history_options *o, const char *const *paths, unsigned int seconds,
		    struct output *said)
{
	_history_queue_ struct history_queue *q = NULL;

	unlink(getenv(LOG));
	assert_int_equal(history_queue__new(o, &q), 0);
	for (; *paths; paths++)
		history_queue__put(q, *paths);
	output_begin(said);
	history_queue__finish(q, seconds, as_told, &(bool){false});
	output_end(said);
	return output_read(getenv(LOG));
}

static int make_log(void **state)
{
	return directory_make(state) || setenv(LOG, directory_path("log"), 1);
}

static const struct {
	const char *name, *paths[4];
	struct history_options options;
	unsigned int seconds;
	const char *log;  /* NULL: whatever it is */
	const char *said; /* a part of the only line, or none */
} rows[] = {
	{"traces are added in turn",
	 {"a.qpt", "-b.qpt", "c d.qpt"},
	 {},
	 60,
	 "-- a.qpt\n-- -b.qpt\n-- c d.qpt\n",
	 ""},
	{"options are passed on",
	 {"a.qpt"},
	 {.store = "http://h/d", .label = "night", .with_commands = true, .quiet = true},
	 60,
	 "--store http://h/d --label night --with-commands --quiet -- a.qpt\n",
	 ""},
	/* Of root: others have no capability to begin with. */
	{"a child has none", {"rights"}, {}, 60, "0 nobody\n", ""},
	{"one that is killed stops no other",
	 {"killed", "b.qpt"},
	 {},
	 60,
	 "-- killed\n-- b.qpt\n",
	 "killed is not in the history: signal 15"},
	{"what takes too long is counted",
	 {"slow", "b.qpt"},
	 {},
	 0,
	 NULL,
	 "2 builds are not in the history yet"},
};

TEST_CASE_WITH(a_trace_is_added_by_a_child, make_log, directory_remove)
{
	for (size_t i = 0; i < N_OF(rows); i++) {
		_output_ struct output said = {};
		_free_ char *log = log_of(&rows[i].options, rows[i].paths, rows[i].seconds, &said);

		if (rows[i].log)
			row_text(rows[i].name, log, rows[i].log);
		row_equal(rows[i].name, occurrences(said.text[1], "\n"), !!*rows[i].said);
		row_part(rows[i].name, said.text[1], rows[i].said);
	}
}

TEST_CASE_WITH(whom_sudo_names_gets_nothing_of_ours, make_log, directory_remove)
{
	static const char *const paths[] = {"rights", NULL};
	const struct history_options options = {.ours = true};
	_output_ struct output said = {};
	_free_ char *log = NULL;

	setenv("SUDO_UID", "1", 1);
	setenv("SUDO_GID", "1", 1);
	log = log_of(&options, paths, 60, &said);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_string_equal(log, "0 nobody\n");
}

/* A slow one is put. */
static void assert_left(bool ticks, unsigned int seconds, bool ends)
{
	_history_queue_ struct history_queue *q = NULL;
	const struct history_options options = {};
	_output_ struct output said = {};

	assert_int_equal(history_queue__new(&options, &q), 0);
	if (ticks)
		history_queue__tick(q);
	history_queue__put(q, "slow");
	for (int i = 0; i < 2 && ticks; i++)
		history_queue__tick(q);
	output_begin(&said);
	history_queue__finish(q, seconds, as_told, &ends);
	output_end(&said);
	assert_contains(said.text[1], "1 build is not in the history yet: add its trace");
}

TEST_CASE_WITH(a_tick_never_waits, make_log, directory_remove)
{
	assert_left(true, 0, false);
}

/* It comes before all environments that the queue hands on. */
TEST_CASE_WITH(a_user_may_end_the_waiting, make_log, directory_remove)
{
	assert_left(false, 1000000, true);
}

TEST_CASE_WITH(the_first_that_is_dropped_is_named, make_log, directory_remove)
{
	_history_queue_ struct history_queue *q = NULL;
	const struct history_options options = {};
	_output_ struct output said = {};

	assert_int_equal(history_queue__new(&options, &q), 0);
	for (int i = 0; i < 4096; i++)
		history_queue__put(q, "a.qpt");
	output_begin(&said);
	history_queue__put(q, "b.qpt");
	history_queue__put(q, "c.qpt");
	output_end(&said);
	assert_one_line(said.text[1]);
	assert_contains(said.text[1], "b.qpt is not in the history: too many traces wait");
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "history"))
		return add(argc, argv);
	return test_cases__run(NULL, NULL);
}
