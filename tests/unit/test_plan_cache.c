// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test.h"
#include "../fixtures/sample_plan.h"
#include "plan/codec.h"

/* Not root, and most likely not in use. */
#define OTHER_UID 54321

/* A home for each test. Root uses its .cache only if XDG_CACHE_HOME names it. */
static char home[64];
static char dir[128];
static char file[256];
static struct library_identity id;

/* The path of a file in the home, until the next call but one. */
static const char *in_home(const char *name)
{
	static char paths[2][128];
	static int next;

	next = !next;
	snprintf(paths[next], sizeof(paths[next]), "%s/%s", home, name);
	return paths[next];
}

static void choose(const char *name)
{
	setenv("XDG_CACHE_HOME", in_home(name), 1);
}

static int setup(void **state)
{
	id = (struct library_identity){
		.dev = 0x12,
		.ino = 0xabcd01,
		.size = 0x300,
		.mtime_ns = 5,
		.ctime_ns = 7,
		.uid = geteuid(),
		.lasting = true,
	};
	snprintf(home, sizeof(home), "/tmp/qprof-test-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(dir, sizeof(dir), "%s/.cache/qprof-bpf", home);
	snprintf(file, sizeof(file), "%s/plan-12-abcd01-300-5-7.v%u", dir, PLAN_CODEC_VERSION);
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	if (!geteuid())
		choose(".cache");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static int teardown(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "chmod -R u+rwx %s && rm -rf %s", home, home);
	return system(command);
}

static int load(struct plan **out)
{
	return plan_cache__load(&id, &(bool){false}, out);
}

static void store(void)
{
	_plan_ struct plan *plan = sample_plan();

	assert_int_equal(plan_cache__store(&id, plan), 0);
}

static void assert_loads(void)
{
	_plan_ struct plan *plan = sample_plan(), *back = NULL;

	assert_int_equal(load(&back), 0);
	free(plan->path);
	plan->path = strdup(""); /* the path is not stored, because others can read the file */
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
	_fclose_ FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, size, f);
	assert_true(n < size);
	return n;
}

static void write_file(const char *path, const uint8_t *buf, size_t len)
{
	_fclose_ FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(buf, 1, len, f), len);
}

static int count_entries(const char *path)
{
	_closedir_ DIR *d = opendir(path);
	int n = -2;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n;
}

TEST_CASE_WITH(a_stored_plan_is_loaded, setup, teardown)
{
	struct stat st;

	assert_loads_nothing();
	assert_int_equal(access(dir, F_OK), -1); /* loading creates nothing */
	store();
	assert_loads();
	assert_int_equal(count_entries(dir), 1);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, geteuid() ? 0600 : 0644);
	store();
	assert_loads();
	assert_int_equal(count_entries(dir), 1);
}

TEST_CASE_WITH(another_identity_is_another_plan, setup, teardown)
{
	const struct library_identity same = id;
	uint64_t *const parts[] = {&id.dev, &id.ino, &id.size, (uint64_t *)&id.mtime_ns,
				   (uint64_t *)&id.ctime_ns};

	store();
	for (size_t i = 0; i < N_OF(parts); i++) {
		*parts[i] += 1;
		assert_loads_nothing();
		id = same;
	}
	assert_loads();
}

TEST_CASE_WITH(a_plan_of_a_forgeable_library_is_not_stored, setup, teardown)
{
	_plan_ struct plan *plan = sample_plan();

	id.lasting = false;
	assert_int_equal(plan_cache__store(&id, plan), -EPERM);
	id.lasting = true;
	store();
	id.lasting = false;
	assert_loads_nothing();
}

TEST_CASE_WITH(an_inode_has_one_plan, setup, teardown)
{
	store();
	id.mtime_ns = id.ctime_ns = 99;
	store();
	assert_loads();
	assert_int_equal(count_entries(dir), 1);
}

TEST_CASE_WITH(the_store_does_not_grow_for_ever, setup, teardown)
{
	for (int i = 0; i < 70; i++) {
		id.ino++;
		store();
	}
	assert_loads();
	assert_in_range(count_entries(dir), 32, 64);
}

static int store_other(void)
{
	const struct plan_cache_key key = {.kind = "other", .id = &id};

	return plan_cache__write(&key, (const uint8_t *)"x", 1);
}

TEST_CASE_WITH(other_users_libraries_drive_out_nothing, setup, teardown)
{
	_plan_ struct plan *plan = sample_plan();
	const struct library_identity roots = id;

	if (geteuid())
		skip();
	setenv("SUDO_UID", "54321", 1);
	setenv("SUDO_GID", "54321", 1);
	store();
	for (int i = 0; i < 70; i++) {
		id.ino++;
		id.uid = OTHER_UID + 1;
		assert_int_equal(plan_cache__store(&id, plan), -EPERM);
		assert_int_equal(store_other(), -EPERM);
	}
	assert_int_equal(count_entries(dir), 1);
	id.uid = OTHER_UID;
	store();
	assert_int_equal(store_other(), 0);
	assert_loads();
	id = roots;
	assert_loads();
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

TEST_CASE_WITH(xdg_cache_home_is_used_if_absolute, setup, teardown)
{
	choose("elsewhere");
	store();
	assert_loads();
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(count_entries(in_home("elsewhere/qprof-bpf")), 1);
	setenv("XDG_CACHE_HOME", "elsewhere", 1);
	assert_loads_nothing();
}

TEST_CASE_WITH(a_truncated_file_is_ignored_and_replaced, setup, teardown)
{
	uint8_t buf[4096];
	size_t len;

	store();
	len = read_file(file, buf, sizeof(buf));
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(truncate(file, len - 1 - i), 0);
		assert_loads_nothing();
	}
	store();
	assert_loads();
}

TEST_CASE_WITH(a_damaged_file_is_ignored, setup, teardown)
{
	uint8_t buf[4096];
	size_t len;

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

TEST_CASE_WITH(a_cache_entry_that_is_not_a_regular_file_is_ignored, setup, teardown)
{
	store();
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_loads_nothing();
	assert_int_equal(rmdir(file), 0);
	/* Opening a pipe must not wait for a writer. */
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_loads_nothing();
}

TEST_CASE_WITH(a_file_others_may_write_is_ignored, setup, teardown)
{
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

TEST_CASE_WITH(links_are_not_followed, setup, teardown)
{
	_plan_ struct plan *plan = sample_plan();
	const char *moved = in_home("moved"), *victim = in_home("victim");
	uint8_t buf[16];

	store();
	assert_int_equal(rename(file, moved), 0);
	assert_int_equal(symlink(moved, file), 0);
	assert_loads_nothing();

	/* Storing replaces the link, not its target. */
	write_file(victim, (const uint8_t *)"keep", 4);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink(victim, file), 0);
	store();
	assert_loads();
	assert_int_equal(read_file(victim, buf, sizeof(buf)), 4);

	/* A link in place of the directory. */
	assert_int_equal(unlink(moved), 0);
	assert_int_equal(rename(dir, moved), 0);
	assert_int_equal(symlink(moved, dir), 0);
	assert_loads_nothing();
	assert_true(plan_cache__store(&id, plan) < 0);
	assert_int_equal(count_entries(moved), 1);
}

/* Permissions do not stop root, so as root, run the function as another user. */
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
	_plan_ struct plan *plan = sample_plan(), *back = NULL;
	const char *base = in_home(".cache");

	id.uid = geteuid();
	choose(".cache");
	if (mkdir(base, 0500) || plan_cache__store(&id, plan) != -EACCES)
		return 1;
	if (chmod(base, 0700) || plan_cache__store(&id, plan) || chmod(dir, 0500))
		return 2;
	if (plan_cache__store(&id, plan) != -EACCES)
		return 3;
	/* The stored plan can still be loaded. */
	return load(&back) || back->n_sites != plan->n_sites ? 4 : 0;
}

TEST_CASE_WITH(a_read_only_directory_is_survived, setup, teardown)
{
	assert_int_equal(run_without_root(store_into_read_only), 0);
}

/* The user can write anything to this store, so it holds plans of the user's own files, and root's.
 */
static int store_of_another_users_file(void)
{
	_plan_ struct plan *plan = sample_plan(), *back = NULL;

	id.uid = geteuid();
	choose(".cache");
	if (plan_cache__store(&id, plan) || load(&back))
		return 1;
	id.uid++;
	plan__free(take_ptr(back));
	if (load(&back) != -ENOENT)
		return 2;
	if (plan_cache__store(&id, plan) != -EPERM)
		return 3;
	/* This program has no right beyond its user's. */
	id.uid = 0;
	return plan_cache__store(&id, plan) || load(&back) ? 4 : 0;
}

TEST_CASE_WITH(the_users_store_is_for_the_users_files_and_roots, setup, teardown)
{
	assert_int_equal(run_without_root(store_of_another_users_file), 0);
}

TEST_CASE_WITH(a_home_that_is_not_there_is_survived, setup, teardown)
{
	_plan_ struct plan *plan = sample_plan();

	setenv("XDG_CACHE_HOME", "/nonexistent/home", 1);
	assert_int_equal(plan_cache__store(&id, plan), -ENOENT);
	assert_loads_nothing();
}

/* Store and load as fast as possible: every load must return a whole plan. */
static int hammer(void)
{
	_plan_ struct plan *plan = sample_plan();

	for (int i = 0; i < 300; i++) {
		_plan_ struct plan *back = NULL;

		if (plan_cache__store(&id, plan))
			return 1;
		if (load(&back) || back->n_sites != plan->n_sites)
			return 2;
	}
	return 0;
}

TEST_CASE_WITH(two_processes_may_write_at_once, setup, teardown)
{
	pid_t pids[2];
	int status;

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
	assert_int_equal(count_entries(dir), 1); /* no temporary files */
}

/* Root does not load a file that another user may have written, or a path that one can change. */
TEST_CASE_WITH(root_uses_what_only_root_can_write, setup, teardown)
{
	const char *moved = in_home("moved"), *cache = in_home(".cache");

	if (geteuid())
		skip();
	setenv("SUDO_UID", "54321", 1);
	setenv("SUDO_GID", "54321", 1);
	store();
	assert_loads();
	assert_int_equal(chown(file, OTHER_UID, OTHER_UID), 0);
	assert_loads_nothing();
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chown(dir, OTHER_UID, OTHER_UID), 0);
	assert_loads_nothing();
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_loads();
	/* The owner of the directory above can rename it. */
	assert_int_equal(chown(home, OTHER_UID, OTHER_UID), 0);
	assert_loads_nothing();
	assert_int_equal(chown(home, 0, 0), 0);
	assert_int_equal(chmod(home, 0775), 0);
	assert_loads_nothing();
	assert_int_equal(chmod(home, 0755), 0);
	assert_int_equal(rename(cache, moved), 0);
	assert_int_equal(symlink(moved, cache), 0);
	assert_loads_nothing();
}

TEST_CASE_WITH(a_file_may_be_mapped, setup, teardown)
{
	static const uint8_t bytes[] = "mapped";
	const struct plan_cache_key key = {.kind = "other", .version = 3, .id = &id};
	char path[256];
	void *map = NULL;
	size_t len = 0;

	assert_int_equal(plan_cache__map(&key, &map, &len), -ENOENT);
	assert_int_equal(plan_cache__write(&key, bytes, sizeof(bytes)), 0);
	assert_int_equal(plan_cache__map(&key, &map, &len), 0);
	assert_int_equal(len, sizeof(bytes));
	assert_memory_equal(map, bytes, len);
	munmap(map, len);
	snprintf(path, sizeof(path), "%s/other-12-abcd01-300-5-7.v3", dir);
	assert_int_equal(chmod(path, 0602), 0);
	assert_int_equal(plan_cache__map(&key, &map, &len), -ENOENT);
	/* A mapping of nothing is none. */
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(plan_cache__map(&key, &map, &len), -ENOENT);
}

/* One that was made from the library's own symbols is preferred. */
TEST_CASE_WITH(a_plan_of_other_symbols_is_stored_apart, setup, teardown)
{
	_plan_ struct plan *plan = sample_plan(), *back = NULL;

	plan->symbols = SYMBOLS_RECOVERED;
	assert_int_equal(plan_cache__store(&id, plan), 0);
	assert_int_equal(load(&back), 0);
	assert_int_equal(back->symbols, SYMBOLS_RECOVERED);
	plan__free(take_ptr(back));
	plan->symbols = SYMBOLS_OF_BUILD_ID;
	plan->symbols_file = strdup("/usr/lib/debug/x");
	assert_int_equal(plan_cache__store(&id, plan), 0);
	assert_int_equal(load(&back), 0);
	assert_int_equal(back->symbols, SYMBOLS_OF_BUILD_ID);
	assert_null(back->symbols_file);
	plan->symbols = SYMBOLS_OF_LIBRARY;
	assert_int_equal(plan_cache__store(&id, plan), 0);
	plan__free(take_ptr(back));
	assert_int_equal(load(&back), 0);
	assert_int_equal(back->symbols, SYMBOLS_OF_LIBRARY);
}

TEST_MAIN(NULL, NULL)
