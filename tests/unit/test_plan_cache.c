// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "../fixtures/sample_plan.h"
#include "plan/codec.h"

/* Somebody who is neither root nor, most likely, anybody. */
#define OTHER_UID 54321

/* A home of our own for each test; the cache is at home/.cache unless XDG_CACHE_HOME is set. */
static char home[64];
static char dir[128];
static char file[192];

static int setup(void **state)
{
	(void)state;
	snprintf(home, sizeof(home), "/tmp/qprof-test-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(dir, sizeof(dir), "%s/.cache/qprof-bpf", home);
	snprintf(file, sizeof(file), "%s/plan-abcd01.v%u", dir, PLAN_CODEC_VERSION);
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static int teardown(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+rwx %s && rm -rf %s", home, home);
	return system(command);
}

static int load(struct plan **out)
{
	static const uint8_t id[] = {0xab, 0xcd, 0x01};

	return plan_cache__load(id, sizeof(id), out);
}

static void store(void)
{
	_plan_ struct plan *plan = sample_plan();

	assert_int_equal(plan_cache__store(plan), 0);
}

static void assert_loads(void)
{
	_plan_ struct plan *plan = sample_plan();
	_plan_ struct plan *back = NULL;

	assert_int_equal(load(&back), 0);
	assert_true(sample_same(plan, back));
}

static void assert_loads_nothing(void)
{
	struct plan *back = NULL;

	assert_int_equal(load(&back), -ENOENT);
	assert_null(back);
}

static size_t read_file(const char *path, uint8_t *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, size, f);
	assert_true(n < size);
	fclose(f);
	return n;
}

static void write_file(const char *path, const uint8_t *buf, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(buf, 1, len, f), len);
	fclose(f);
}

static int count_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void a_stored_plan_is_loaded(void **state)
{
	struct stat st;

	(void)state;
	assert_loads_nothing();
	assert_int_equal(access(dir, F_OK), -1); /* asking leaves no trace */
	store();
	assert_loads();
	assert_int_equal(count_entries(dir), 1);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	store();
	assert_loads();
	assert_int_equal(count_entries(dir), 1);
}

static void another_build_id_is_another_plan(void **state)
{
	static const uint8_t id[PLAN_BUILD_ID_MAX + 1] = {0xab, 0xcd, 0x02};
	struct plan *back = NULL;
	char renamed[192];

	(void)state;
	store();
	assert_int_equal(plan_cache__load(id, 3, &back), -ENOENT);
	assert_int_equal(plan_cache__load(id, 2, &back), -ENOENT);
	assert_int_equal(plan_cache__load(id, 0, &back), -ENOENT);
	assert_int_equal(plan_cache__load(id, sizeof(id), &back), -ENOENT);
	/* The name of the file is not believed. */
	snprintf(renamed, sizeof(renamed), "%s/plan-abcd02.v%u", dir, PLAN_CODEC_VERSION);
	assert_int_equal(rename(file, renamed), 0);
	assert_int_equal(plan_cache__load(id, 3, &back), -ENOENT);
	assert_null(back);
}

static void a_plan_without_identity_is_not_stored(void **state)
{
	struct plan plan = {.build_id_len = 0};

	(void)state;
	assert_int_equal(plan_cache__store(&plan), -EINVAL);
	plan.build_id_len = PLAN_BUILD_ID_MAX + 1;
	assert_int_equal(plan_cache__store(&plan), -EINVAL);
	assert_int_equal(access(dir, F_OK), -1);
}

static void xdg_cache_home_is_used_if_absolute(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/elsewhere", home);
	setenv("XDG_CACHE_HOME", path, 1);
	store();
	assert_loads();
	assert_int_equal(access(dir, F_OK), -1);
	snprintf(path, sizeof(path), "%s/elsewhere/qprof-bpf", home);
	assert_int_equal(count_entries(path), 1);
	setenv("XDG_CACHE_HOME", "elsewhere", 1);
	assert_loads_nothing();
	store();
	assert_int_equal(count_entries(dir), 1);
}

static void a_truncated_file_is_ignored_and_replaced(void **state)
{
	uint8_t buf[4096];
	size_t len;

	(void)state;
	store();
	len = read_file(file, buf, sizeof(buf));
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(truncate(file, len - 1 - i), 0);
		assert_loads_nothing();
	}
	store();
	assert_loads();
}

static void a_damaged_file_is_ignored(void **state)
{
	uint8_t buf[4096];
	size_t len;

	(void)state;
	store();
	len = read_file(file, buf, sizeof(buf));
	for (size_t i = 0; i < len; i++) {
		buf[i] ^= 0x10;
		write_file(file, buf, len);
		assert_loads_nothing();
		buf[i] ^= 0x10;
	}
	write_file(file, buf, len);
	assert_loads();
}

static void what_is_no_file_is_ignored(void **state)
{
	(void)state;
	store();
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_loads_nothing();
	assert_int_equal(rmdir(file), 0);
	/* Opening a pipe without a writer must not wait for one. */
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_loads_nothing();
}

static void a_file_others_may_write_is_ignored(void **state)
{
	(void)state;
	store();
	assert_int_equal(chmod(file, 0620), 0);
	assert_loads_nothing();
	assert_int_equal(chmod(file, 0602), 0);
	assert_loads_nothing();
	assert_int_equal(chmod(file, 0644), 0);
	assert_loads();
	assert_int_equal(chmod(dir, 0777), 0);
	assert_loads_nothing();
}

static void links_are_not_followed(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	char moved[192], victim[128];
	uint8_t buf[16];

	(void)state;
	store();
	snprintf(moved, sizeof(moved), "%s/moved", home);
	assert_int_equal(rename(file, moved), 0);
	assert_int_equal(symlink(moved, file), 0);
	assert_loads_nothing();

	/* Storing replaces the link, not what it points to. */
	snprintf(victim, sizeof(victim), "%s/victim", home);
	write_file(victim, (const uint8_t *)"keep", 4);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink(victim, file), 0);
	store();
	assert_loads();
	assert_int_equal(read_file(victim, buf, sizeof(buf)), 4);

	/* Nor is a link in place of the directory. */
	assert_int_equal(unlink(moved), 0);
	assert_int_equal(rename(dir, moved), 0);
	assert_int_equal(symlink(moved, dir), 0);
	assert_loads_nothing();
	assert_true(plan_cache__store(plan) < 0);
	assert_int_equal(count_entries(moved), 1);
}

/* Root is stopped by no permissions: what is run as root is run as somebody else. */
static int run_without_root(int (*fn)(void))
{
	int status;
	pid_t pid;

	if (geteuid())
		return fn();
	assert_int_equal(chown(home, OTHER_UID, OTHER_UID), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(setegid(OTHER_UID) || seteuid(OTHER_UID) ? 99 : fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int store_into_read_only(void)
{
	_plan_ struct plan *plan = sample_plan();
	_plan_ struct plan *back = NULL;
	char base[128];

	snprintf(base, sizeof(base), "%s/.cache", home);
	if (mkdir(base, 0500) || plan_cache__store(plan) != -EACCES)
		return 1;
	if (chmod(base, 0700) || plan_cache__store(plan) || chmod(dir, 0500))
		return 2;
	if (plan_cache__store(plan) != -EACCES)
		return 3;
	/* What is there can be used still. */
	return load(&back) || !sample_same(plan, back) ? 4 : 0;
}

static void a_read_only_directory_is_survived(void **state)
{
	(void)state;
	assert_int_equal(run_without_root(store_into_read_only), 0);
}

static void a_home_that_is_not_there_is_survived(void **state)
{
	_plan_ struct plan *plan = sample_plan();

	(void)state;
	setenv("HOME", "/nonexistent/home", 1);
	assert_int_equal(plan_cache__store(plan), -ENOENT);
	assert_loads_nothing();
}

/* Writes and reads as fast as it can; a reader must only ever see a whole plan. */
static int hammer(void)
{
	_plan_ struct plan *plan = sample_plan();

	for (int i = 0; i < 300; i++) {
		_plan_ struct plan *back = NULL;

		if (plan_cache__store(plan))
			return 1;
		if (load(&back) || !sample_same(plan, back))
			return 2;
	}
	return 0;
}

static void two_processes_may_write_at_once(void **state)
{
	pid_t pids[2];
	int status;

	(void)state;
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			_exit(hammer());
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_loads();
	assert_int_equal(count_entries(dir), 1); /* and nobody left a temporary file */
}

static void assert_owner(const char *path, uid_t uid)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_uid, uid);
	if (uid == OTHER_UID)
		assert_int_equal(st.st_gid, uid);
}

/* Only root can have been made so by sudo; anybody else's SUDO_UID must change nothing. */
static void under_sudo_files_belong_to_the_user(void **state)
{
	char path[160];

	(void)state;
	setenv("SUDO_UID", "54321", 1);
	setenv("SUDO_GID", "54321", 1);
	snprintf(path, sizeof(path), "%s/cache", home);
	setenv("XDG_CACHE_HOME", path, 1);
	if (geteuid()) {
		store();
		assert_loads();
		return;
	}
	assert_int_equal(chown(home, OTHER_UID, OTHER_UID), 0);
	store();
	assert_loads();
	assert_owner(path, OTHER_UID);
	snprintf(dir, sizeof(dir), "%s/cache/qprof-bpf", home);
	assert_owner(dir, OTHER_UID);
	snprintf(file, sizeof(file), "%s/plan-abcd01.v%u", dir, PLAN_CODEC_VERSION);
	assert_owner(file, OTHER_UID);

	/* A file of anyone else is not believed. */
	assert_int_equal(chown(file, OTHER_UID + 1, OTHER_UID + 1), 0);
	assert_int_equal(chmod(file, 0644), 0);
	assert_loads_nothing();
	store();
	assert_loads();
	assert_owner(file, OTHER_UID);
	assert_int_equal(geteuid(), 0);
	/* Root's rights are back: this directory is closed to the user. */
	assert_int_equal(chmod(home, 0), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_loads_nothing();
}

static void under_sudo_a_chosen_directory_of_root_stays_roots(void **state)
{
	(void)state;
	setenv("SUDO_UID", "54321", 1);
	setenv("SUDO_GID", "54321", 1);
	setenv("XDG_CACHE_HOME", home, 1);
	store();
	assert_loads();
	snprintf(dir, sizeof(dir), "%s/qprof-bpf", home);
	assert_owner(dir, geteuid());
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stored_plan_is_loaded),
		TEST(another_build_id_is_another_plan),
		TEST(a_plan_without_identity_is_not_stored),
		TEST(xdg_cache_home_is_used_if_absolute),
		TEST(a_truncated_file_is_ignored_and_replaced),
		TEST(a_damaged_file_is_ignored),
		TEST(what_is_no_file_is_ignored),
		TEST(a_file_others_may_write_is_ignored),
		TEST(links_are_not_followed),
		TEST(a_read_only_directory_is_survived),
		TEST(a_home_that_is_not_there_is_survived),
		TEST(two_processes_may_write_at_once),
		TEST(under_sudo_files_belong_to_the_user),
		TEST(under_sudo_a_chosen_directory_of_root_stays_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
