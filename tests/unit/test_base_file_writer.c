// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/file_writer.h"

#include <fcntl.h>

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/disk.h"

static int reset_disk(void **state)
{
	memset(&disk, 0, sizeof(disk));
	return 0;
}

static struct file_writer create(const char *name)
{
	struct file_writer w = {.fd = openat(directory_fd, name, O_WRONLY | O_CREAT, 0600)};

	assert_true(w.fd >= 0);
	return w;
}

TEST_CASE_WITH(short_and_interrupted_writes_are_gone_on_with, NULL, reset_disk)
{
	struct file_writer w = create("short");
	char back[16] = "";
	int fd;

	disk.most = 4;
	disk.interrupted = 2;
	assert_int_equal(file_writer__write(&w, "0123456789", 10), 0);
	assert_int_equal(disk.calls, 2 + 3);
	assert_int_equal(w.bytes, 10);
	assert_int_equal(file_writer__write(&w, "", 0), 0);
	assert_int_equal(file_writer__close(&w), 0);
	assert_int_equal(w.fd, -1);
	fd = openat(directory_fd, "short", O_RDONLY);
	assert_int_equal(read(fd, back, sizeof(back)), 10);
	assert_string_equal(back, "0123456789");
	close(fd);
}

TEST_CASE_WITH(a_disk_that_takes_nothing_is_an_error, NULL, reset_disk)
{
	struct file_writer w = create("nothing");

	disk.no_progress = 1;
	assert_int_equal(file_writer__write(&w, "x", 1), -EIO);
	assert_int_equal(file_writer__close(&w), -EIO);
	close(w.fd);
}

TEST_CASE_WITH(the_first_error_stays, NULL, reset_disk)
{
	struct file_writer w = {.fd = open("/dev/full", O_WRONLY | O_CLOEXEC)};
	int calls;

	assert_int_equal(file_writer__write(&w, "x", 1), -ENOSPC);
	assert_int_equal(file_writer__fail(&w, -ENOMEM), -ENOSPC);
	calls = disk.calls;
	assert_int_equal(file_writer__write(&w, "x", 1), -ENOSPC);
	assert_int_equal(disk.calls, calls);
	assert_int_equal(w.bytes, 0);
	/* The descriptor stays open, and its owner closes it. */
	assert_int_equal(file_writer__close(&w), -ENOSPC);
	assert_int_equal(close(w.fd), 0);
}

TEST_CASE_WITH(an_error_may_come_with_the_close, NULL, reset_disk)
{
	struct file_writer w = create("close");

	disk.close_err = EDQUOT;
	assert_int_equal(file_writer__write(&w, "x", 1), 0);
	assert_int_equal(file_writer__close(&w), -EDQUOT);
	assert_int_equal(w.fd, -1);
	assert_int_equal(file_writer__write(&w, "x", 1), -EDQUOT);
}

TEST_MAIN(directory_make, directory_remove)
