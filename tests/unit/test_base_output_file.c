// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/output_file.h"

#include <sys/stat.h>

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"

/* Make a file of one byte. */
static void put(const char *path, char byte)
{
	_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, &byte, 1), 1);
}

static char byte_of(const char *path)
{
	_close_ int fd = open(path, O_RDONLY);
	char byte = 0;

	assert_int_equal(read(fd, &byte, 1), 1);
	return byte;
}

static void begin_over(struct output_file *f, const char *path)
{
	put(path, 'o');
	assert_int_equal(output_file__choose(f, path, true), 0);
	assert_string_not_equal(f->path, path);
	put(f->path, 'n');
	f->created = true;
}

TEST_CASE(a_commit_replaces_an_existing_file)
{
	_output_file_ struct output_file f = {0};
	const char *path = directory_path("x.qpt");

	begin_over(&f, path);
	assert_true(byte_of(path) == 'o');
	assert_int_equal(output_file__commit(&f), 0);
	assert_true(byte_of(path) == 'n');
	assert_string_equal(f.path, path);
	assert_int_equal(directory_files(true), 1);
}

TEST_CASE(an_uncommitted_file_changes_nothing)
{
	_output_file_ struct output_file f = {0};
	const char *path = directory_path("x.qpt");

	begin_over(&f, path);
	output_file__discard(&f);
	assert_true(byte_of(path) == 'o');
	assert_int_equal(directory_files(true), 1);
}

/* A directory has taken the name. The trace stays whole under the name it was written to. */
TEST_CASE(a_file_stays_where_it_is_if_its_rename_fails)
{
	_output_file_ struct output_file f = {0};
	const char *path = directory_path("x.qpt");

	begin_over(&f, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(output_file__commit(&f), -EISDIR);
	assert_true(byte_of(f.path) == 'n');
	output_file__discard(&f);
	assert_true(byte_of(f.path) == 'n');
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(directory_files(true), 1);
}

static int choose(const char *path, bool force)
{
	_output_file_ struct output_file f = {0};

	return output_file__choose(&f, path, force);
}

TEST_CASE(only_a_file_of_its_own_is_written)
{
	const char *path = directory_path("x.qpt");
	int ours = dup(STDOUT_FILENO), file;

	put(path, 'o');
	file = open(path, O_WRONLY | O_CLOEXEC);
	for (int force = 0; force < 2; force++) {
		int linked, same;

		assert_int_equal(choose("/dev/null", force), -EINVAL);
		assert_int_equal(choose("/", force), -EISDIR);
		assert_int_equal(choose("-", force), -EBUSY);
		assert_int_equal(choose(path, force), 0);
		fflush(stdout);
		dup2(file, STDOUT_FILENO);
		linked = choose("/dev/stdout", force);
		same = choose(path, force);
		dup2(ours, STDOUT_FILENO);
		assert_int_equal(linked, -EBUSY);
		assert_int_equal(same, -EBUSY);
	}
	close(file);
	close(ours);
	assert_contains(output_file_error(-EINVAL), "no regular file");
	assert_contains(output_file_error(-EBUSY), "a file of its own");
	assert_string_equal(output_file_error(-EISDIR), "Is a directory");
	assert_int_equal(directory_files(true), 1);
}

TEST_MAIN(directory_make, directory_remove)
