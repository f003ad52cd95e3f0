// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "../fixtures/sample_history.h"
#include "base/diag.h"
#include "test.h"

static char state_home[32];
static struct spool spool;

/* A server, and what it got: the last digit of each build. */
static char got[64];
static int answer;
static char refused; /* the last digit of a build that it refuses */
static int refusal;  /* -EREMOTEIO, or another */

static int make_spool(void **state)
{
	strcpy(state_home, "/tmp/qprof-test.XXXXXX");
	if (!mkdtemp(state_home))
		return -1;
	setenv("XDG_STATE_HOME", state_home, 1);
	diag_set_level(DIAG_QUIET);
	*got = refused = answer = 0;
	refusal = -EREMOTEIO;
	return spool__make(&spool, "server");
}

static int remove_spool(void **state)
{
	char command[64];

	spool__clear(&spool);
	snprintf(command, sizeof(command), "rm -r %s", state_home);
	return system(command);
}

static void put(unsigned int number)
{
	_history_rows_ struct history_rows rows;

	sample_history(&rows, number);
	assert_int_equal(spool__put(&spool, &rows), 0);
}

static int take(void *ctx, const struct history_rows *builds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (refused && builds[i].build.build[HISTORY_ID_SIZE - 2] == refused)
			return refusal;
	for (size_t i = 0; !answer && i < n; i++) {
		assert_int_equal(builds[i].n[HISTORY_COMPILE], 2);
		strncat(got, &builds[i].build.build[HISTORY_ID_SIZE - 2], 1);
	}
	return answer;
}

static struct spool_aside aside;

static int drain(void)
{
	return spool__drain(&spool, take, NULL, &aside);
}

/* The name of the oldest file, for the test to harm it. */
static int open_oldest(int flags)
{
	DIR *dir = opendir(spool.path);
	char name[NAME_MAX + 1] = "";
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (*entry->d_name == '1' && (!*name || strcmp(entry->d_name, name) < 0))
			strcpy(name, entry->d_name);
	closedir(dir);
	return openat(spool.dir, name, flags | O_CLOEXEC);
}

TEST_CASE_WITH(builds_go_once_in_their_order, make_spool, remove_spool)
{
	put(1);
	put(2);
	put(1);
	assert_int_equal(spool__count(&spool), 2);
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "12");
	assert_int_equal(spool__count(&spool), 0);
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "12");
}

TEST_CASE_WITH(builds_wait_for_a_server_that_is_away, make_spool, remove_spool)
{
	put(1);
	answer = -EHOSTUNREACH;
	assert_int_equal(drain(), -EHOSTUNREACH);
	assert_int_equal(spool__count(&spool), 1);
	answer = 0;
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "1");
}

TEST_CASE_WITH(a_refused_build_stands_in_no_ones_way, make_spool, remove_spool)
{
	put(1);
	put(2);
	put(3);
	refused = '2';
	assert_int_equal(drain(), -EREMOTEIO);
	assert_string_equal(got, "31");
	assert_int_equal(aside.refused, 1);
	assert_non_null(strstr(aside.name, "2.jsonl.refused"));
	assert_int_equal(faccessat(spool.dir, aside.name, F_OK, 0), 0);
	assert_int_equal(spool__count(&spool), 0);
	assert_int_equal(drain(), 0);
}

TEST_CASE_WITH(a_refused_build_waits_until_another_is_taken, make_spool, remove_spool)
{
	put(2);
	refused = '2';
	assert_int_equal(drain(), -EREMOTEIO);
	assert_int_equal(aside.refused, 0);
	assert_int_equal(spool__count(&spool), 1);
	put(12);
	put(22);
	put(3);
	assert_int_equal(drain(), -EREMOTEIO);
	assert_string_equal(got, "3");
	assert_int_equal(aside.refused, 3);
	assert_int_equal(spool__count(&spool), 0);
}

TEST_CASE_WITH(builds_that_are_too_much_together_go_one_by_one, make_spool, remove_spool)
{
	put(1);
	put(2);
	put(3);
	refused = '2';
	refusal = -ENOBUFS;
	assert_int_equal(drain(), -ENOBUFS);
	assert_string_equal(got, "31");
	assert_int_equal(aside.refused, 0);
	assert_int_equal(spool__count(&spool), 1);
	refused = 0;
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "312");
}

/* The version is a digit of the first line. */
TEST_CASE_WITH(a_file_of_a_newer_version_waits_for_it, make_spool, remove_spool)
{
	static const char schema[] = "\"schema\":\"qprof-rows/";
	char line[256] = "";
	int fd;

	put(1);
	fd = open_oldest(O_RDWR);
	assert_true(pread(fd, line, sizeof(line) - 1, 0) > 0);
	assert_non_null(strstr(line, schema));
	assert_int_equal(pwrite(fd, "9", 1, strstr(line, schema) + sizeof(schema) - 1 - line), 1);
	close(fd);
	put(2);
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "2");
	assert_int_equal(aside.newer, 1);
	assert_int_equal(spool__count(&spool), 1);
}

TEST_CASE_WITH(a_directory_that_others_may_write_is_refused, make_spool, remove_spool)
{
	struct spool other = {};

	assert_int_equal(chmod(spool.path, 0770), 0);
	assert_int_equal(spool__make(&other, "server"), -EPERM);
	spool__clear(&other);
	must(chmod(spool.path, 0700), spool__make(&other, "server"));
	spool__clear(&other);
}

TEST_CASE_WITH(a_server_that_refuses_all_is_left_alone, make_spool, remove_spool)
{
	for (unsigned int i = 0; i < 40; i++)
		put(i * 10 + 2);
	refused = '2';
	assert_int_equal(drain(), -ECANCELED);
	assert_int_equal(spool__count(&spool), 40);
}

TEST_CASE_WITH(a_damaged_file_is_set_aside, make_spool, remove_spool)
{
	int fd;

	put(1);
	fd = open_oldest(O_RDWR);
	assert_int_equal(ftruncate(fd, 700), 0);
	close(fd);
	put(2);
	assert_int_equal(drain(), 0);
	assert_int_equal(aside.damaged, 1);
	assert_string_equal(got, "2");
	assert_int_equal(spool__count(&spool), 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(aside.damaged, 0);
}

TEST_CASE_WITH(what_another_process_sends_is_left_to_it, make_spool, remove_spool)
{
	int fd;

	put(1);
	fd = open_oldest(O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	put(2);
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "2");
	close(fd);
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "21");
}

TEST_CASE_WITH(the_oldest_are_dropped_and_counted, make_spool, remove_spool)
{
	spool.limits.files = 2;
	for (unsigned int i = 1; i <= 4; i++)
		put(i);
	assert_int_equal(spool__count(&spool), 2);
	assert_int_equal(spool__take_dropped(&spool), 2);
	assert_int_equal(spool__take_dropped(&spool), 0);
	spool.limits.bytes = 1;
	put(5);
	assert_int_equal(drain(), 0);
	assert_string_equal(got, "5");
	assert_int_equal(spool__take_dropped(&spool), 2);
}

TEST_MAIN(NULL, NULL)
