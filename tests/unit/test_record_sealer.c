// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/output.h"

/* A disk that works when a byte is written to it, and then has this error. */
static int disk[2];
static int disk_err;

static int slow_seal(int fd)
{
	char byte;

	assert_int_equal(read(disk[0], &byte, 1), 1);
	close(fd);
	return disk_err;
}

static int open_disk(void **state)
{
	disk_err = 0;
	return pipe2(disk, O_CLOEXEC);
}

static int close_disk(void **state)
{
	close(disk[0]);
	close(disk[1]);
	return 0;
}

static void let_it_work(unsigned int n)
{
	while (n--)
		assert_int_equal(write(disk[1], "", 1), 1);
}

static int any_fd(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct sealer *sealer_of(int (*seal)(int fd))
{
	struct sealer *s = NULL;

	assert_int_equal(sealer__new(seal, &s), 0);
	return s;
}

/* The disk does nothing yet, and nothing here waits for it. */
TEST_CASE_WITH(a_slow_disk_delays_no_caller, open_disk, close_disk)
{
	struct sealer *s = sealer_of(slow_seal);

	for (int i = 0; i < 3; i++)
		assert_int_equal(sealer__put(s, any_fd(), "a.qpt"), 0);
	assert_int_equal(sealer__report(s), 0);
	let_it_work(3);
	sealer__wait(s);
	assert_int_equal(sealer__report(s), 0);
	sealer__free(s);
}

TEST_CASE_WITH(all_are_sealed_before_it_ends, open_disk, close_disk)
{
	struct sealer *s = sealer_of(slow_seal);
	int fd = any_fd();

	assert_int_equal(sealer__put(s, fd, "a.qpt"), 0);
	let_it_work(1);
	sealer__free(s);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

TEST_CASE_WITH(an_error_is_reported_once, open_disk, close_disk)
{
	struct sealer *s = sealer_of(slow_seal);
	_output_ struct output o = {};

	disk_err = -EIO;
	assert_int_equal(sealer__put(s, any_fd(), "a.qpt"), 0);
	assert_int_equal(sealer__put(s, any_fd(), "b.qpt"), 0);
	let_it_work(2);
	sealer__wait(s);
	assert_int_equal(CAPTURED(&o, sealer__report(s)), -EIO);
	assert_non_null(strstr(o.text[1], "cannot write a.qpt: Input/output error."));
	assert_non_null(strstr(o.text[1], "cannot write b.qpt: Input/output error."));
	assert_int_equal(sealer__report(s), 0);
	sealer__free(s);
}

/* A disk that never works holds a limited number of files open. */
TEST_CASE_WITH(too_many_are_not_sealed, open_disk, close_disk)
{
	struct sealer *s = sealer_of(slow_seal);
	int fd;

	for (int i = 0; i < SEALER_MOST; i++)
		assert_int_equal(sealer__put(s, any_fd(), "a.qpt"), 0);
	fd = any_fd();
	assert_int_equal(sealer__put(s, fd, "b.qpt"), -EBUSY);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	let_it_work(SEALER_MOST);
	sealer__wait(s);
	assert_int_equal(sealer__put(s, any_fd(), "c.qpt"), 0);
	let_it_work(1);
	sealer__free(s);
}

static unsigned int n_sealed;

static void note(void *ctx, const char *path)
{
	assert_string_equal(path, ctx);
	n_sealed++;
}

TEST_CASE_WITH(a_sealed_trace_is_told_of, open_disk, close_disk)
{
	struct sealer *s = sealer_of(slow_seal);
	char good[] = "good";
	_output_ struct output said = {};

	n_sealed = 0;
	sealer__tell(s, note, good);
	let_it_work(1);
	assert_int_equal(sealer__put(s, any_fd(), good), 0);
	sealer__wait(s);
	assert_int_equal(n_sealed, 1);
	disk_err = -ENOSPC;
	let_it_work(1);
	assert_int_equal(sealer__put(s, any_fd(), "bad"), 0);
	sealer__wait(s);
	assert_int_equal(n_sealed, 1);
	assert_int_equal(CAPTURED(&said, sealer__report(s)), -ENOSPC);
	sealer__free(s);
}

TEST_MAIN(NULL, NULL)
