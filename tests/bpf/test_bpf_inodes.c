// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The kernel's inodes of files on overlays. */
#include "base/array.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "capture.h"

static char dir[] = "/tmp/qprof-inodes-XXXXXX";
static struct kernel *kernel;

/* Valid until the fourth call from here. */
static const char *at(const char *name)
{
	static char paths[4][64];
	static unsigned int n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static int setup(void **state)
{
	struct kernel_options opt = {.ring_bytes = 1 << 20};
	const char *const dirs[] = {"low", "none", "one", "two", "copies", "keys", "up", "work"};
	FILE *f;

	if (!can_capture())
		return 0;
	assert_int_equal(kernel__open(&opt, &kernel), 0);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount("none", dir, "tmpfs", 0, NULL), 0);
	for (size_t i = 0; i < N_OF(dirs); i++)
		assert_int_equal(mkdir(at(dirs[i]), 0755), 0);
	f = fopen(at("low/lib"), "we");
	assert_non_null(f);
	assert_true(fputs("a library", f) >= 0);
	fclose(f);
	return 0;
}

/* The mount namespace and its mounts disappear with this process. */
static int teardown(void **state)
{
	kernel__free(kernel);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	return 0;
}

static void mount_overlay(const char *to, const char *options)
{
	char data[400];

	snprintf(data, sizeof(data), options, dir, dir, dir);
	if (mount("overlay", at(to), "overlay", 0, data)) {
		print_message("skipped: this kernel has no overlays\n");
		skip();
	}
}

static uint64_t inode_of(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t inode;

	assert_true(fd >= 0);
	inode = kernel__inode_of(kernel, fd);
	assert_true(inode != 0);
	return inode;
}

static dev_t device_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_dev;
}

TEST_CASE(overlays_over_one_directory_share_its_inodes)
{
	need_capture();
	mount_overlay("one", "lowerdir=%s/low:%s/none");
	mount_overlay("two", "lowerdir=%s/low:%s/none");
	assert_true(device_of(at("one/lib")) != device_of(at("low/lib")) ||
		    device_of(at("two/lib")) != device_of(at("low/lib")));
	assert_true(inode_of(at("one/lib")) == inode_of(at("low/lib")));
	assert_true(inode_of(at("two/lib")) == inode_of(at("low/lib")));
	assert_true(inode_of("/bin/sh") != inode_of(at("low/lib")));
}

TEST_CASE(a_copy_has_an_inode_of_its_own)
{
	int fd;

	need_capture();
	mount_overlay("copies", "lowerdir=%s/low,upperdir=%s/up,workdir=%s/work");
	assert_true(inode_of(at("copies/lib")) == inode_of(at("low/lib")));
	fd = open(at("copies/lib"), O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd);
	assert_true(inode_of(at("copies/lib")) != inode_of(at("low/lib")));
}

static struct wire_file_key key_of(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct wire_file_key key;

	assert_true(fd >= 0);
	assert_int_equal(kernel__file_key(kernel, fd, &key), 0);
	return key;
}

static bool have_one_key(const char *one, const char *other)
{
	struct wire_file_key a = key_of(one), b = key_of(other);

	return !memcmp(&a, &b, sizeof(a));
}

/* The key of a mapping is that of the lower file, where stat(2) returns the numbers of the overlay.
 */
TEST_CASE(an_overlay_has_the_key_of_the_file_below)
{
	need_capture();
	mount_overlay("keys", "lowerdir=%s/low:%s/none");
	assert_true(have_one_key(at("keys/lib"), at("low/lib")));
	assert_false(have_one_key("/bin/sh", at("low/lib")));
}

/* The same inode, as long as before, with the old mtime. */
TEST_CASE(a_file_that_is_written_to_has_another_key)
{
	_close_ int fd = -1;
	struct wire_file_key before;
	struct stat st;

	need_capture();
	fd = open(at("low/written"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one", 3), 3);
	assert_int_equal(fstat(fd, &st), 0);
	before = key_of(at("low/written"));
	assert_int_equal(before.ino, st.st_ino);
	assert_int_equal(before.size, 3);
	assert_int_equal(before.ctime_s, st.st_ctim.tv_sec);
	assert_int_equal(before.ctime_ns, st.st_ctim.tv_nsec);
	/* The clock of ctime ticks every few milliseconds. */
	do {
		struct timespec times[2] = {st.st_atim, st.st_mtim};
		struct wire_file_key now;

		assert_int_equal(pwrite(fd, "two", 3, 0), 3);
		assert_int_equal(futimens(fd, times), 0);
		now = key_of(at("low/written"));
		if (memcmp(&now, &before, sizeof(now)))
			return;
	} while (true);
}

TEST_CASE(what_cannot_be_mapped_has_none)
{
	struct wire_file_key key;

	need_capture();
	assert_true(kernel__file_key(kernel, -1, &key) < 0);
	assert_true(kernel__inode_of(kernel, -1) == 0);
}

TEST_MAIN(setup, teardown)
