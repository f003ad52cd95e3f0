// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/file_watch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "test.h"

struct changes {
	int watch; /* the only one that may change */
	unsigned int n_written, n_attributes;
};

static void on_change(void *ctx, int watch, enum file_change change)
{
	struct changes *seen = ctx;

	assert_int_equal(watch, seen->watch);
	seen->n_written += change == FILE_WRITTEN;
	seen->n_attributes += change == FILE_ATTRIBUTES;
}

static struct changes read_all(int w, int watch)
{
	struct changes seen = {.watch = watch};

	file_watch_read(w, on_change, &seen);
	return seen;
}

TEST_CASE(writes_are_distinguished_from_other_changes)
{
	char path[] = "/tmp/qprof-test-watch-XXXXXX", other[64];
	_close_ int w = file_watch_new();
	_close_ int file = mkstemp(path);
	int fd = -1, watch;
	struct changes seen;

	assert_int_equal(ftruncate(file, 4096), 0);
	close(take_fd(file));
	fd = file = open(path, O_RDONLY);
	assert_true(w >= 0);
	watch = file_watch_add(w, fd);
	assert_true(watch >= 0);
	assert_int_equal(file_watch_add(w, fd), watch);
	snprintf(other, sizeof(other), "%s.other", path);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(chmod(other, 0600), 0);
	seen = read_all(w, watch);
	assert_true(seen.n_attributes >= 2 && !seen.n_written);
	assert_int_equal(truncate(other, 100), 0);
	assert_int_equal(read_all(w, watch).n_written, 1);
	assert_int_equal(unlink(other), 0);
	seen = read_all(w, watch);
	assert_true(seen.n_attributes && !seen.n_written);
	file_watch_remove(w, watch);
}

TEST_CASE(a_write_to_a_mapping_is_reported_at_its_end)
{
	char path[] = "/tmp/qprof-test-watch-XXXXXX";
	_close_ int w = file_watch_new();
	_close_ int file = mkstemp(path);
	int watch;
	char *bytes;

	assert_int_equal(ftruncate(file, 4096), 0);
	assert_true(w >= 0);
	watch = file_watch_add(w, file);
	bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	close(take_fd(file));
	bytes[0] = 1;
	assert_int_equal(munmap(bytes, 4096), 0);
	assert_int_equal(read_all(w, watch).n_written, 1);
	assert_int_equal(unlink(path), 0);
}

TEST_MAIN(NULL, NULL)
