// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/mappings.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/test.h"
#include "base/clock.h"
#include "capture/broker.h"

#define SEEN_MAX 24576

struct seen {
	pid_t pids[SEEN_MAX];
	uint64_t times[SEEN_MAX];
	unsigned int n;
	struct mapped_library last;
};

/* A look with the process's current capabilities. */
static struct broker *new_look(void)
{
	static struct broker *l;

	broker__free(take_ptr(l));
	assert_int_equal(broker__new(&l), 0);
	return l;
}

static int on_mapping(void *ctx, pid_t pid, const struct mapped_library *library)
{
	struct seen *t = ctx;

	/* Other processes on this machine may be compilers. */
	assert_non_null(strstr(library->path, "/librustc_driver-"));
	assert_true(t->n < SEEN_MAX);
	t->pids[t->n] = pid;
	t->times[t->n++] = library->time_ns;
	t->last = *library;
	return 0;
}

static char dir[] = "/tmp/qprof-test-XXXXXX";

static int setup(void **state)
{
	return !mkdtemp(dir) || chdir(dir);
}

static int teardown(void **state)
{
	return unlink("librustc_driver-1.so") | unlink("librustc_drive.so") | rmdir(dir);
}

static pid_t map_in_child(const char *name, int prot)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0700);

		if (ftruncate(fd, 4096) || mmap(NULL, 4096, prot, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		_exit(0);
	}
	return pid;
}

static void wait_for_success(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The number of reports on `pid`; other processes' compilers are reported, too. */
static unsigned int times_seen(const struct seen *t, pid_t pid)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->n; i++)
		n += t->pids[i] == pid;
	return n;
}

TEST_CASE(a_mapping_of_a_library_is_reported_at_once)
{
	_mappings_ struct mappings *m = NULL;
	struct pollfd pfd = {.events = POLLIN};
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	struct seen seen = {0};
	pid_t pid;

	assert_int_equal(mappings__open(new_look(), &m), 0);
	pid = map_in_child("librustc_driver-1.so", PROT_READ | PROT_EXEC);
	pfd.fd = mappings__fd(m);
	while (!times_seen(&seen, pid)) {
		assert_int_equal(poll(&pfd, 1, -1), 1);
		assert_int_equal(mappings__read(m, on_mapping, &seen), 0);
	}
	wait_for_success(pid);
	assert_int_equal(times_seen(&seen, pid), 1);
	for (unsigned int i = 0; i < seen.n; i++)
		assert_in_range(seen.times[i], before, clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(mappings__lost(m), 0);
}

TEST_CASE(other_mappings_are_not_reported)
{
	_mappings_ struct mappings *m = NULL;
	struct seen seen = {0};
	pid_t data, other;

	assert_int_equal(mappings__open(new_look(), &m), 0);
	data = map_in_child("librustc_driver-1.so", PROT_READ);
	other = map_in_child("librustc_drive.so", PROT_READ | PROT_EXEC);
	wait_for_success(data);
	wait_for_success(other);
	assert_int_equal(mappings__read(m, on_mapping, &seen), 0);
	assert_int_equal(times_seen(&seen, data), 0);
	assert_int_equal(times_seen(&seen, other), 0);
}

static void map_and_unmap(int fd, int times)
{
	for (int i = 0; i < times; i++) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		assert_ptr_not_equal(p, MAP_FAILED);
		munmap(p, 4096);
	}
}

/* 2 MiB of records pass through a ring of at most 1 MiB, which is read now and then. */
TEST_CASE(none_is_missed_when_the_ring_goes_round)
{
	_mappings_ struct mappings *m = NULL;
	_close_ int fd = open("librustc_driver-1.so", O_RDONLY | O_CLOEXEC);
	struct seen seen = {0};

	assert_int_equal(mappings__open(new_look(), &m), 0);
	for (int i = 0; i < 400; i++) {
		map_and_unmap(fd, 50);
		assert_int_equal(mappings__read(m, on_mapping, &seen), 0);
	}
	assert_int_equal(mappings__lost(m), 0);
	assert_int_equal(times_seen(&seen, getpid()), 20000);
}

/* The temporary directory may be on a file system with other device numbers than stat(2) shows. */
TEST_CASE(the_inode_is_the_one_of_stat)
{
	_mappings_ struct mappings *m = NULL;
	_close_ int fd = open("librustc_driver-1.so", O_RDONLY | O_CLOEXEC);
	struct seen seen = {0};
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(mappings__open(new_look(), &m), 0);
	map_and_unmap(fd, 1);
	assert_int_equal(mappings__read(m, on_mapping, &seen), 0);
	assert_int_equal(times_seen(&seen, getpid()), 1);
	if (seen.n == 1 && seen.last.dev == st.st_dev)
		assert_int_equal(seen.last.ino, st.st_ino);
	else
		skip();
}

/* All mappings are on one CPU, whose ring overflows. */
TEST_CASE(mappings_lost_from_a_full_ring_are_counted)
{
	_close_ int fd = open("librustc_driver-1.so", O_RDONLY | O_CLOEXEC);
	_mappings_ struct mappings *m = NULL;
	struct seen seen = {0};
	cpu_set_t all, one;
	uint64_t n_lost;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	assert_int_equal(mappings__open(new_look(), &m), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	map_and_unmap(fd, 20000);
	/* The lost mappings may include other processes'. */
	n_lost = mappings__lost(m);
	assert_int_equal(mappings__read(m, on_mapping, &seen), 0);
	assert_true(times_seen(&seen, getpid()) < 20000);
	assert_true(times_seen(&seen, getpid()) + n_lost >= 20000);
	mappings__forget(m);
	assert_int_equal(mappings__lost(m), 0);
	memset(&seen, 0, sizeof(seen));
	map_and_unmap(fd, 1);
	assert_int_equal(mappings__read(m, on_mapping, &seen), 0);
	sched_setaffinity(0, sizeof(all), &all);
	assert_int_equal(times_seen(&seen, getpid()), 1);
	assert_int_equal(mappings__lost(m), 0);
}

/* A user of this test alone: the kernel adds up the locked memory of all of a user's processes. */
#define NOBODY_ELSE 54321

static void keep_capability(int cap)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	data[cap / 32].effective = data[cap / 32].permitted = 1u << cap % 32;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE) ||
	    syscall(SYS_capset, &header, data))
		_exit(2);
}

static long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (f) {
		assert_int_equal(fscanf(f, "%ld", &n), 1);
		fclose(f);
	}
	return n;
}

/* The limit applies to all CPUs' rings together, so the first must leave enough for the last. */
TEST_CASE(a_low_memlock_limit_is_reported)
{
	const struct rlimit none = {0, 0};
	pid_t pid;

	/* Debian's kernels refuse these rings to CAP_PERFMON alone at level 3. */
	if (read_number("/proc/sys/kernel/perf_event_paranoid") > 2)
		skip();
	pid = fork();
	if (!pid) {
		struct mappings *m = NULL;

		setrlimit(RLIMIT_MEMLOCK, &none);
		keep_capability(CAP_PERFMON);
		_exit(mappings__open(new_look(), &m) != 0);
	}
	wait_for_success(pid);
}

TEST_CASE(nothing_can_be_freed)
{
	mappings__free(NULL);
}

int main(void)
{
	/* On a busy machine the child of a look may take long to answer. */
	broker_ns = 60000000000;
	return test_cases__run(setup, teardown);
}
