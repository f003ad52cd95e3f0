// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "base/cleanup.h"

static char path[] = "/tmp/qprof-trace-dir-XXXXXX";

static int begin(void **state)
{
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	return mkdtemp(path) ? 0 : -1;
}

static void make(const char *name)
{
	char file[128];
	int fd;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	fd = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static int end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", path);
	return system(command);
}

TEST_CASE_WITH(names_have_only_numbers_of_the_build, begin, end)
{
	const struct build_of b = {.user = 1000, .root = 4711};
	struct trace_dir d = {.path = path, .fd = -1};
	_free_ char *first = trace_dir__name(&d, &b, 0, 1), *second = trace_dir__name(&d, &b, 0, 2);
	uint32_t user = 0;

	assert_string_equal(first + strlen(path), "/qprof-19700101T000000Z-u1000-p4711.qpt");
	assert_string_equal(second + strlen(path), "/qprof-19700101T000000Z-u1000-p4711-2.qpt");
	assert_true(trace_dir_user(second + strlen(path) + 1, &user));
	assert_int_equal(user, 1000);
}

/* --keep removes what has such a name. */
TEST_CASE(similar_names_are_not_ours)
{
	static const char *const similar[] = {
		"qprof-19700101T000000Z.qpt",
		"qprof-19700101T000000Z-u1-p1.txt",
		"qprof-19700101T000000Z-u1-p1-before-regression.qpt",
		"qprof-19700101T000000Z-u1-p1-2-before-regression.qpt",
		"qprof-19700101T000000Z-u1-p1-2.qpt.qpt",
		"qprof-19700101T000000Z-u1-p1-1.qpt",
		"qprof-19700101T000000Z-u1-p1 .qpt",
		"qprof-19700101T000000Z-u 1-p1.qpt",
		"qprof-19700101T000000Z-u+1-p1.qpt",
		"qprof-19700101T000000Z-u01-p1.qpt",
		"qprof-19700101T000000Z-u4294967297-p1.qpt",
		"qprof-1970010T000000Z-u1-p1.qpt",
		"qprof- 9700101T000000Z-u1-p1.qpt",
		"copy-of-qprof-19700101T000000Z-u1-p1.qpt",
		".qpt",
		"",
	};
	uint32_t user;

	for (size_t i = 0; i < N_OF(similar); i++)
		if (trace_dir_user(similar[i], &user))
			fail_msg("%s is taken for a trace of ours", similar[i]);
	assert_true(trace_dir_user("qprof-19700101T000000Z-u4294967295-p1.qpt", &user));
}

TEST_CASE_WITH(only_traces_are_listed, begin, end)
{
	struct trace_dir d = TRACE_DIR_NONE;
	_dir_traces_ struct dir_traces list = {0};
	char link[128];

	make("qprof-20260101T000000Z-u7-p1.qpt");
	make("notes.qpt");
	snprintf(link, sizeof(link), "%s/qprof-20260101T000000Z-u7-p2.qpt", path);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(trace_dir__open(&d, path), 0);
	assert_int_equal(trace_dir__list(&d, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.at[0].kept.user, 7);
	assert_int_equal(trace_dir__remove(&d, list.at[0].name), 0);
	assert_int_equal(trace_dir__remove(&d, list.at[0].name), -ENOENT);
	trace_dir__close(&d);
}

TEST_CASE_WITH(others_must_not_write_to_it, begin, end)
{
	struct trace_dir d = TRACE_DIR_NONE;

	assert_int_equal(chmod(path, 0770), 0);
	assert_int_equal(trace_dir__open(&d, path), -EPERM);
	trace_dir__close(&d);
	assert_int_equal(trace_dir__open(&d, "/nonexistent"), -ENOENT);
	trace_dir__close(&d);
}

static int open_below(void)
{
	struct trace_dir d;
	char below[64];
	int err;

	snprintf(below, sizeof(below), "%s/traces", path);
	mkdir(below, 0700);
	err = trace_dir__open(&d, below);
	trace_dir__close(&d);
	return err;
}

TEST_CASE_WITH(others_must_not_replace_it, begin, end)
{
	assert_int_equal(open_below(), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(open_below(), -EPERM);
	/* As /tmp: others cannot rename what is ours. */
	assert_int_equal(chmod(path, 01777), 0);
	assert_int_equal(open_below(), 0);
	if (geteuid())
		return;
	assert_int_equal(chmod(path, 0755) ?: chown(path, 1000, 1000), 0);
	assert_int_equal(open_below(), -EPERM);
}

/* In /tmp, where anybody can put it. */
TEST_CASE_WITH(a_link_of_another_user_is_refused, begin, end)
{
	struct trace_dir d;
	char link[64], below[64];

	snprintf(link, sizeof(link), "%s/link", path);
	snprintf(below, sizeof(below), "%s/traces", path);
	assert_int_equal(mkdir(below, 0700) ?: chmod(path, 01777) ?: symlink(below, link), 0);
	assert_int_equal(trace_dir__open(&d, link), 0);
	assert_string_equal(d.path, below);
	trace_dir__close(&d);
	if (geteuid())
		return;
	assert_int_equal(lchown(link, 1000, 1000), 0);
	assert_int_equal(trace_dir__open(&d, link), -EPERM);
	trace_dir__close(&d);
}

TEST_MAIN(NULL, NULL)
