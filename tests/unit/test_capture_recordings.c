// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "capture/recordings.h"

#include <fcntl.h>
#include <unistd.h>

#include "../fixtures/fake_root.h"

#define TRACE "\x89QPT\r\n\x1a\n and more"

#define MOUNTS                                                           \
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"        \
	"22 21 0:40 / /mnt rw - fuse.sshfs me@there:/ rw,user_id=1000\n" \
	"23 21 0:41 / /host rw - virtiofs tag rw\n"

static void add_fd_on(int mount, const char *process, int fd, const char *target, const char *flags)
{
	char name[64], text[64];

	snprintf(name, sizeof(name), "%s/fdinfo/%d", process, fd);
	snprintf(text, sizeof(text), "pos:\t9\nflags:\t%s\nmnt_id:\t%d\n", flags, mount);
	fake_root_file(name, text);
	fake_root_file("/proc/self/mountinfo", MOUNTS);
	snprintf(name, sizeof(name), "%s/fd/%d", process, fd);
	assert_int_equal(symlink(target, fake_root_path(name)), 0);
}

/* As recordings__mark() of that process does. */
static int mark(off_t first, off_t n)
{
	struct flock lock = {.l_type = F_RDLCK, .l_start = first, .l_len = n};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", fake_root);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	return fd;
}

static void add_fd(const char *process, int fd, const char *target, const char *flags)
{
	add_fd_on(21, process, fd, target, flags);
}

static void add_process(const char *process, unsigned int real_uid)
{
	char name[64], text[128];

	snprintf(name, sizeof(name), "%s/comm", process);
	fake_root_file(name, "qprof-bpf\n");
	snprintf(name, sizeof(name), "%s/status", process);
	snprintf(text, sizeof(text), "Name:\tqprof-bpf\nUid:\t%u\t0\t0\t0\n", real_uid);
	fake_root_file(name, text);
}

TEST_CASE_WITH(traces_that_are_written_are_found, fake_root_make, fake_root_remove)
{
	_recordings_ struct recordings r = {};
	char trace[64], other[64];

	snprintf(trace, sizeof(trace), "%s/a.qpt", fake_root);
	snprintf(other, sizeof(other), "%s/b.txt", fake_root);
	fake_root_file("/a.qpt", TRACE);
	fake_root_file("/b.txt", "no trace");
	fake_root_file("/proc/40/comm", "qprof-bpf\n");
	add_fd("/proc/40", 0, "/dev/null", "0100002");
	add_fd("/proc/40", 3, other, "0100001");
	add_fd("/proc/40", 4, trace, "02100001");
	/* Process 41 only reads the trace, and process 42 is another program. */
	fake_root_file("/proc/41/comm", "qprof-bpf\n");
	add_fd("/proc/41", 4, trace, "02100000");
	fake_root_file("/proc/42/comm", "cat\n");
	add_fd("/proc/42", 4, trace, "02100001");
	assert_int_equal(recordings__find(fake_root, &r), 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.hidden, 0);
	assert_int_equal(r.at[0].pid, 40);
	assert_string_equal(r.at[0].file, trace);
	assert_non_null(strstr(r.at[0].path, "/proc/40/fd/4"));
	assert_int_equal(recordings__writer_of(&r, trace), 40);
	assert_int_equal(recordings__writer_of(&r, other), 0);
	assert_int_equal(recordings__writer_of(&r, "/nonexistent"), 0);
}

/* Such a server may never answer, not even a question for the size of a file. */
TEST_CASE_WITH(no_server_is_asked, fake_root_make, fake_root_remove)
{
	_recordings_ struct recordings r = {};
	char trace[64];

	snprintf(trace, sizeof(trace), "%s/a.qpt", fake_root);
	fake_root_file("/a.qpt", TRACE);
	fake_root_file("/proc/40/comm", "qprof-bpf\n");
	add_fd_on(22, "/proc/40", 4, trace, "02100001");
	add_fd_on(99, "/proc/40", 5, trace, "02100001");
	assert_int_equal(recordings__find(fake_root, &r), 0);
	assert_int_equal(r.n, 0);
	add_fd_on(23, "/proc/40", 6, trace, "02100001");
	recordings__clear(&r);
	assert_int_equal(recordings__find(fake_root, &r), 0);
	assert_int_equal(r.n, 1);
}

TEST_CASE_WITH(a_hidden_recording_is_counted, fake_root_make, fake_root_remove)
{
	_recordings_ struct recordings r = {};

	fake_root_file("/proc/40/comm", "qprof-bpf\n");
	assert_int_equal(recordings__find(fake_root, &r), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.hidden, 1);
}

/* A helper of a recorder has its file, and ours has our own. */
TEST_CASE_WITH(each_other_recording_counts_once, fake_root_make, fake_root_remove)
{
	char ours[64], first[64], second[64], third[64];
	int marks[3];
	uint32_t n;

	snprintf(ours, sizeof(ours), "%s/ours.qpt", fake_root);
	snprintf(first, sizeof(first), "%s/first.qpt", fake_root);
	snprintf(second, sizeof(second), "%s/second.qpt", fake_root);
	fake_root_file("/ours.qpt", TRACE);
	fake_root_file("/first.qpt", TRACE);
	snprintf(third, sizeof(third), "%s/third.qpt", fake_root);
	fake_root_file("/second.qpt", TRACE);
	fake_root_file("/third.qpt", TRACE);
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 0);
	fake_root_file("/sys/kernel/btf/vmlinux", "");
	marks[0] = mark(42, 1);
	marks[1] = mark(40, 1);
	marks[2] = mark(41, 1);
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 0);
	add_fd("/proc/self", 7, ours, "02100001");
	add_process("/proc/40", 0);
	add_fd("/proc/40", 7, ours, "02100001");
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 0);
	add_process("/proc/41", getuid());
	add_fd("/proc/41", 4, first, "02100001");
	add_process("/proc/42", 0);
	add_fd("/proc/42", 4, first, "02100001");
	add_fd("/proc/42", 5, second, "02100001");
	add_process("/proc/43", 0);
	add_fd("/proc/43", 5, third, "02100001");
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	/* One recording, whose helper has one of its two traces. Process 43 has no mark. */
	assert_int_equal(n, 1);
	/* A program with root's rights, which another user started. */
	add_process("/proc/42", getuid() + 4711);
	add_process("/proc/41", getuid() + 4711);
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 0);
	for (size_t i = 0; i < N_OF(marks); i++)
		close(marks[i]);
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 0);
}

/* Locks of somebody who wants to hide others, or to keep us busy. */
TEST_CASE_WITH(foreign_locks_are_no_recordings, fake_root_make, fake_root_remove)
{
	char trace[64];
	int all, one;
	uint32_t n;

	add_process("/proc/41", getuid());
	fake_root_file("/a.qpt", TRACE);
	fake_root_file("/sys/kernel/btf/vmlinux", "");
	snprintf(trace, sizeof(trace), "%s/a.qpt", fake_root);
	add_fd("/proc/41", 4, trace, "02100001");
	one = mark(41, 1);
	all = mark(0, 0);
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 1);
	close(all);
	assert_int_equal(recordings__beside(fake_root, &n), 0);
	assert_int_equal(n, 1);
	close(one);
}

TEST_CASE_WITH(nothing_runs, fake_root_make, fake_root_remove)
{
	_recordings_ struct recordings r = {};

	assert_int_equal(recordings__find(fake_root, &r), 0);
	assert_int_equal(r.n + r.hidden, 0);
}

TEST_MAIN(NULL, NULL)
