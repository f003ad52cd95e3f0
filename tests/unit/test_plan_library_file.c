// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/library/file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/temporary.h"
#include "base/cleanup.h"

TEST_CASE_WITH(it_reports_what_the_kernel_says, temporary_make, temporary_remove)
{
	_library_file_ struct library_file *f = NULL;
	const struct library_identity *id;
	struct stat st;

	assert_int_equal(truncate(temporary, 1234), 0);
	assert_int_equal(library_file__open(temporary, &f), 0);
	assert_int_equal(stat(library_file__fd_path(f), &st), 0);
	id = library_file__identity(f);
	assert_int_equal(id->ino, st.st_ino);
	assert_int_equal(id->size, 1234);
	assert_int_equal(id->uid, getuid());
	assert_int_equal(id->ctime_ns, st.st_ctim.tv_sec * 1000000000L + st.st_ctim.tv_nsec);
	assert_true(library_file__is_inode(f, st.st_dev, st.st_ino));
	assert_false(library_file__is_inode(f, st.st_dev, st.st_ino + 1));
	assert_true(fcntl(library_file__fd(f), F_GETFD) & FD_CLOEXEC);
}

/* Another change before the next clock tick would not change its ctime. */
TEST_CASE_WITH(a_fresh_file_has_no_lasting_identity, temporary_make, temporary_remove)
{
	_library_file_ struct library_file *fresh = NULL;
	int64_t settled_ns = library_file_settled_ns;

	/* On a busy machine the file may be older than 2 s when it is opened. */
	library_file_settled_ns = INT64_MAX;
	assert_int_equal(truncate(temporary, 1), 0);
	assert_int_equal(library_file__open(temporary, &fresh), 0);
	library_file_settled_ns = settled_ns;
	assert_false(library_file__identity(fresh)->lasting);
}

TEST_CASE_WITH(stays_the_inode_when_the_path_is_swapped, temporary_make, temporary_remove)
{
	_library_file_ struct library_file *f = NULL, *other = NULL;
	char name[64];
	struct stat st;

	assert_int_equal(library_file__open(temporary, &f), 0);
	snprintf(name, sizeof(name), "%s.other", temporary);
	assert_int_equal(symlink("/bin/true", name), 0);
	assert_int_equal(rename(name, temporary), 0);
	assert_int_equal(stat(library_file__fd_path(f), &st), 0);
	assert_true(library_file__is_inode(f, st.st_dev, st.st_ino));
	assert_int_equal(library_file__open(temporary, &other), 0);
	assert_false(library_file__is_inode(f, library_file__identity(other)->dev,
					    library_file__identity(other)->ino));
}

TEST_CASE_WITH(sees_a_change, temporary_make, temporary_remove)
{
	_library_file_ struct library_file *f = NULL;

	assert_int_equal(library_file__open(temporary, &f), 0);
	assert_true(library_file__is_same(f));
	assert_int_equal(truncate(temporary, 99), 0);
	assert_false(library_file__is_same(f));
}

/* A change that restores the old mtime still changes the ctime. */
TEST_CASE_WITH(sees_a_change_that_hides, temporary_make, temporary_remove)
{
	_library_file_ struct library_file *f = NULL;
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	assert_int_equal(utimensat(AT_FDCWD, temporary, times, 0), 0);
	assert_int_equal(library_file__open(temporary, &f), 0);
	usleep(20000);
	assert_int_equal(utimensat(AT_FDCWD, temporary, times, 0), 0);
	assert_false(library_file__is_same(f));
}

TEST_CASE_WITH(takes_regular_files_only, temporary_make, temporary_remove)
{
	struct library_file *f = NULL;
	char fifo[64];

	snprintf(fifo, sizeof(fifo), "%s.fifo", temporary);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(library_file__open(fifo, &f), -ENOEXEC);
	unlink(fifo);
	assert_int_equal(library_file__open("/tmp", &f), -ENOEXEC);
	assert_int_equal(library_file__open("/dev/null", &f), -ENOEXEC);
	assert_int_equal(library_file__try(fifo, &f), -ENOENT);
	assert_null(f);
}

/* Opening a device can have effects, so there must be no inotify event of an open. */
TEST_CASE_WITH(opens_nothing_that_is_no_regular_file, temporary_make, temporary_remove)
{
	_library_file_ struct library_file *f = NULL;
	struct inotify_event event;
	_close_ int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char fifo[64];

	snprintf(fifo, sizeof(fifo), "%s.fifo", temporary);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_true(inotify_add_watch(events, fifo, IN_OPEN) >= 0);
	assert_true(inotify_add_watch(events, temporary, IN_OPEN) >= 0);
	assert_int_equal(library_file__try(fifo, &f), -ENOEXEC);
	assert_int_equal(read(events, &event, sizeof(event)), -1);
	assert_int_equal(library_file__try(temporary, &f), 0);
	assert_int_equal(read(events, &event, sizeof(event)), sizeof(event));
	unlink(fifo);
}

TEST_CASE_WITH(the_last_reference_closes, temporary_make, temporary_remove)
{
	struct library_file *f, *again;
	int fd;

	assert_int_equal(library_file__open(temporary, &f), 0);
	fd = library_file__fd(f);
	again = library_file__ref(f);
	library_file__free(f);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	library_file__free(again);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* ---- Library mount --------------------------------------------------------------------------- */

static const char mounts[] =
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"40 21 0:50 / /home/a/mnt rw,nosuid - fuse.sshfs a\\040b:/x rw,user_id=1000,group_id=1000\n"
	"41 21 0:51 / /mnt rw shared:7 master:3 - fuse /dev/fuse "
	"rw,user_id=0,group_id=0,allow_other\n"
	"42 21 0:52 / /share rw - virtiofs share rw\n"
	"43 21 0:53 / /user_id=7 rw - fuse user_id=7 rw,user_id=1001\n"
	"140 21 0:54 / /cut rw\n";

static struct file_mount find(int id)
{
	_fclose_ FILE *f = fmemopen((void *)(uintptr_t)mounts, sizeof(mounts) - 1, "r");
	struct file_mount m = {.fuse = true};

	file_mount__find(f, id, &m);
	return m;
}

TEST_CASE(the_server_is_the_user_of_the_mount)
{
	assert_true(find(40).has_server);
	assert_int_equal(find(40).server, 1000);
	assert_int_equal(find(43).server, 1001);
	assert_true(find(42).ours);
	assert_false(find(42).has_server);
	assert_false(find(4).ours);
	assert_false(find(140).ours);
}

TEST_CASE(only_unprivileged_servers_are_foreign)
{
	const struct file_mount disk = {0};
	struct file_mount m;

	assert_false(file_mount__is_foreign(&disk, 1000));
	m = find(40);
	assert_false(file_mount__is_foreign(&m, 1000));
	assert_true(file_mount__is_foreign(&m, 1001));
	assert_true(file_mount__is_foreign(&m, 0));
	m = find(41);
	assert_false(file_mount__is_foreign(&m, 1000));
	m = find(42);
	assert_false(file_mount__is_foreign(&m, 1000));
	/* In another namespace, user 0 may be the root of a user namespace. */
	m = find(4);
	assert_true(file_mount__is_foreign(&m, 0));
}

TEST_CASE(an_open_file_has_a_mount)
{
	_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct file_mount m;

	assert_int_equal(file_mount__of(fd, &m), 0);
	assert_true(!m.overlay || m.ours);
	assert_true(file_mount__of(-1, &m) < 0);
}

TEST_MAIN(NULL, NULL)
