// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/look.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "test.h"
#include "capture/privilege.h"

#define LONG_NS 60000000000 /* enough for an answer on a busy machine */

/* If set, the machine stands still for an hour in the next poll(), and no child runs. */
static bool stands_still;
static time_t stood_still_s;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int err = (int)syscall(SYS_clock_gettime, id, ts);

	ts->tv_sec += stood_still_s;
	return err;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	if (!stands_still)
		return (int)syscall(SYS_poll, fds, n, ms);
	stands_still = false;
	stood_still_s += 3600;
	return 0;
}

/* The only child, or 0. */
static pid_t only_child(void)
{
	_fclose_ FILE *f = NULL;
	char name[64];
	int pid = 0;

	snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(name, "re");
	return f && fscanf(f, "%d", &pid) == 1 ? pid : 0;
}

/* The children of other tests may not have ended yet. */
static void wait_for_children(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void arguments_are_those_of_the_process(void **state)
{
	_look_ struct look *l = NULL;
	char args[4096];
	size_t n;

	assert_int_equal(look__new(&l), 0);
	n = look__arguments(l, getpid(), args, sizeof(args));
	assert_in_range(n, 1, sizeof(args) - 1);
	assert_non_null(strstr(args, "test_capture_look"));
	assert_int_equal(look__arguments(l, getpid(), args, 3), 3);
}

static void memory_is_that_of_the_process(void **state)
{
	static const char text[] = "in memory";
	_look_ struct look *l = NULL;
	struct look_memory ranges[] = {{(uintptr_t)text + 3, 6}, {(uintptr_t)text, 2}};
	uint8_t bytes[8];

	assert_int_equal(look__new(&l), 0);
	assert_int_equal(look__memory(l, getpid(), ranges, 2, bytes), 0);
	assert_memory_equal(bytes, "memoryin", 8);
	ranges[1].addr = 16;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(look__memory(l, getpid(), ranges, 2, bytes), -EFAULT);
	assert_memory_equal(bytes, "xxxxxxxx", 8);
	ranges[1] = (struct look_memory){(uintptr_t)text, UINT32_MAX};
	assert_int_equal(look__memory(l, getpid(), ranges, 2, bytes), -E2BIG);
	assert_int_equal(look__memory(l, getpid(), ranges, LOOK_RANGES_MAX + 1, bytes), -E2BIG);
	/* The child has answered all along. */
	assert_int_equal(look__memory(l, getpid(), ranges, 1, bytes), 0);
}

static void a_process_without_a_compiler_is_none(void **state)
{
	struct look_range loader = {0};
	struct library_file *file = NULL;
	_look_ struct look *l = NULL;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(look__new(&l), 0);
	assert_int_equal(look__library(l, getpid(), &file, &loader), -ENOENT);
	assert_int_equal(look__library(l, pid, &file, &loader), -ESRCH);
	assert_int_equal(look__library_beside(l, getpid(), "/bin/cat", &file), -ENOENT);
	assert_int_equal(look__file(l, getpid(), "/no/such/file", &file), -ENOENT);
	assert_null(file);
}

static uint64_t capabilities(pid_t pid, const char *set)
{
	_fclose_ FILE *f = NULL;
	char name[64], line[256];
	uint64_t mask = UINT64_MAX;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, set, strlen(set)))
			sscanf(line + strlen(set), ":\t%" SCNx64, &mask);
	return mask;
}

#define N_SETS 5

/* Root has capabilities to give up. Shrinking the bounding set takes CAP_SETPCAP. */
static void the_child_keeps_no_more_than_it_uses(void **state)
{
	const char *const sets[N_SETS] = {"CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"};
	const uint64_t kept = privilege_to_look(privilege_effective());
	uint64_t found[N_SETS];
	struct look *l = NULL;
	pid_t child;
	char byte;

	wait_for_children();
	assert_int_equal(look__new(&l), 0);
	assert_int_equal(look__arguments(l, getpid(), &byte, 1), 1);
	child = only_child();
	for (int i = 0; i < N_SETS; i++)
		found[i] = capabilities(child, sets[i]);
	/* A failed test frees nothing, and the next test would wait for this child. */
	look__free(take_ptr(l));
	assert_true(child > 0);
	assert_int_equal(found[0], kept);
	assert_int_equal(found[1], kept);
	assert_int_equal(found[2], 0);
	assert_int_equal(found[3], 0);
	if (!geteuid())
		assert_int_equal(found[4] & ~kept, 0);
}

/* Map a second library: one of the two may be a lure, so the look must fail. */
static void map_another(const char *dir, struct look *l)
{
	struct library_file *file = NULL;
	_close_ int fd = -1;
	char name[64];
	void *mapped;

	snprintf(name, sizeof(name), "%s/librustc_driver-2.so", dir);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	assert_int_equal(ftruncate(fd, 4096), 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	assert_int_equal(look__only_library(l, getpid(), &file), -EMLINK);
	assert_null(file);
	munmap(mapped, 4096);
	unlink(name);
}

/* This process maps a file with a compiler's name, so it looks like a compiler. */
static void the_library_and_the_loader_are_found(void **state)
{
	char dir[] = "/tmp/qprof-test-XXXXXX", name[64];
	struct look_range loader = {0};
	_library_file_ struct library_file *file = NULL;
	_look_ struct look *l = NULL;
	uint64_t in_loader;
	struct stat st;
	_close_ int fd = -1;
	void *mapped;

	assert_non_null(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/librustc_driver-1.so", dir);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	assert_int_equal(ftruncate(fd, 4096), 0);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	assert_int_equal(look__new(&l), 0);
	assert_int_equal(look__library(l, getpid(), &file, &loader), 0);
	assert_string_equal(library_file__path(file), name);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(library_file__is_inode(file, st.st_dev, st.st_ino));
	/* The descriptor is that of the file itself, not only a report of the child. */
	assert_int_equal(fstat(library_file__fd(file), &st), 0);
	assert_true(library_file__is_same(file));
	assert_true(fcntl(library_file__fd(file), F_GETFD) & FD_CLOEXEC);
	/* This function lies in the loader. */
	extern void *__tls_get_addr(void *);

	in_loader = (uintptr_t)__tls_get_addr;
	assert_true(loader.start <= in_loader && in_loader < loader.end);
	assert_false(loader.start <= (uintptr_t)only_child && (uintptr_t)only_child < loader.end);
	library_file__free(take_ptr(file));
	assert_int_equal(look__only_library(l, getpid(), &file), 0);
	map_another(dir, l);
	munmap(mapped, 4096);
	unlink(name);
	rmdir(dir);
}

/* To its owner, a stopped child looks like one that a slow file blocks. */
static void a_child_that_does_not_answer_is_replaced(void **state)
{
	_look_ struct look *l = NULL;
	char args[4096];
	pid_t first;

	wait_for_children();
	assert_int_equal(look__new(&l), 0);
	assert_true(look__arguments(l, getpid(), args, sizeof(args)) > 0);
	first = only_child();
	assert_true(first > 0);
	kill(first, SIGSTOP);
	look_ns = 500000000;
	assert_int_equal(look__arguments(l, getpid(), args, sizeof(args)), 0);
	look_ns = LONG_NS;
	assert_true(look__arguments(l, getpid(), args, sizeof(args)) > 0);
	assert_true(waitpid(first, NULL, 0) == first || errno == ECHILD);
}

static void one_is_waited_for_though_the_machine_stood_still(void **state)
{
	_look_ struct look *l = NULL;
	char args[4096];

	assert_int_equal(look__new(&l), 0);
	stands_still = true;
	assert_true(look__arguments(l, getpid(), args, sizeof(args)) > 0);
	assert_false(stands_still);
}

static void it_ends_with_us_and_keeps_nothing_open(void **state)
{
	int pair[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pair), 0);
	pid = fork();
	if (!pid) {
		struct look *l = NULL;

		if (look__new(&l) || !look__arguments(l, getpid(), &byte, 1))
			_exit(1);
		/* A stopped child cannot notice the exit by itself. */
		kill(only_child(), SIGSTOP);
		close(pair[1]);
		_exit(write(STDERR_FILENO, "", 0) != 0);
	}
	close(pair[1]);
	assert_int_equal(read(pair[0], &byte, 1), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(pair[0]);
}

static void nothing_can_be_freed(void **state)
{
	look__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_those_of_the_process),
		cmocka_unit_test(memory_is_that_of_the_process),
		cmocka_unit_test(a_process_without_a_compiler_is_none),
		cmocka_unit_test(the_child_keeps_no_more_than_it_uses),
		cmocka_unit_test(the_library_and_the_loader_are_found),
		cmocka_unit_test(a_child_that_does_not_answer_is_replaced),
		cmocka_unit_test(one_is_waited_for_though_the_machine_stood_still),
		cmocka_unit_test(it_ends_with_us_and_keeps_nothing_open),
		cmocka_unit_test(nothing_can_be_freed),
	};

	look_ns = LONG_NS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
