// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/broker.h"

#include <dlfcn.h>
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
#include "../fixtures/ended_child.h"
#include "../fixtures/directory.h"
#include "../fixtures/rows.h"
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

TEST_CASE(arguments_are_those_of_the_process)
{
	_broker_ struct broker *l = NULL;
	_arguments_ struct arguments args = {0};

	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__arguments(l, getpid(), &args), 0);
	assert_true(args.size && !args.cut);
	assert_non_null(strstr(args.bytes, "test_capture_broker"));
}

/* A process that has these arguments, until it is ended. */
static pid_t execute(char *const argv[], const char *cwd)
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!cwd || !chdir(cwd))
			execv("/bin/sh", argv);
		_exit(127);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &(char){0}, 1), 0);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The shell stops itself. */
#define SLEEPS "-c", "kill -STOP $$", "sh"

TEST_CASE(many_arguments_come_in_several_answers)
{
	enum { LEN = 100000 };
	_broker_ struct broker *l = NULL;
	_arguments_ struct arguments args = {0};
	static char a[LEN + 1], b[LEN + 1], c[LEN + 1];
	char *const fits[] = {"rustc", SLEEPS, a, b, "--crate-name", "x", NULL};
	char *const too_many[] = {"rustc", SLEEPS, a, b, c, "--crate-name", "x", NULL};
	pid_t pid;

	memset(a, 'a', LEN);
	memset(b, 'b', LEN);
	memset(c, 'c', LEN);
	assert_int_equal(broker__new(&l), 0);
	pid = execute(fits, NULL);
	assert_int_equal(broker__arguments(l, pid, &args), 0);
	end(pid);
	assert_false(args.cut);
	assert_true(args.size > 2 * LEN);
	assert_memory_equal(args.bytes + args.size - 15, "--crate-name\0x", 15);
	assert_memory_equal(args.bytes + args.size - 17, "b", 1);
	arguments__clear(&args);
	pid = execute(too_many, NULL);
	assert_int_equal(broker__arguments(l, pid, &args), 0);
	end(pid);
	assert_true(args.cut);
	assert_in_range(args.size, 2 * LEN, WIRE_COMMAND_MAX);
}

static void write_file(const char *name, const char *text, size_t size)
{
	_close_ int fd = open(directory_path(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
}

/* `wanted` is what stands for the file; NULL: it is not read. */
static void assert_argument_file(struct broker *l, const char *file, const char *wanted,
				 size_t size)
{
	char word[512];
	char *const argv[] = {"rustc", SLEEPS, word, "last", NULL};
	static const char first[] = "rustc\0-c\0kill -STOP $$\0sh";
	_arguments_ struct arguments args = {0};
	size_t len;
	pid_t pid;

	snprintf(word, sizeof(word), "@%s", file);
	len = strlen(word) + 1;
	pid = execute(argv, directory);
	assert_int_equal(broker__arguments(l, pid, &args), 0);
	end(pid);
	assert_int_equal(args.cut, !wanted);
	assert_int_equal(args.size, sizeof(first) + len + size + sizeof("last"));
	assert_memory_equal(args.bytes + sizeof(first), word, len);
	if (wanted)
		assert_memory_equal(args.bytes + sizeof(first) + len, wanted, size);
	assert_string_equal(args.bytes + sizeof(first) + len + size, "last");
}

TEST_CASE_WITH(the_arguments_in_a_file_follow_it, directory_make, directory_remove)
{
	static const char wanted[] = "--crate-name\0a b\0\0@more\0last";
	_broker_ struct broker *l = NULL;

	assert_int_equal(broker__new(&l), 0);
	write_file("args", "--crate-name\r\na b\n\n@more\nlast", 29);
	write_file("empty", "", 0);
	assert_argument_file(l, "args", wanted, sizeof(wanted));
	assert_argument_file(l, directory_path("args"), wanted, sizeof(wanted));
	assert_argument_file(l, "empty", "", 0);
	assert_int_equal(symlinkat(directory_path("args"), directory_fd, "link"), 0);
	assert_argument_file(l, "link", wanted, sizeof(wanted));
}

/* Nor is any of them opened in a way that waits, or does something. */
TEST_CASE_WITH(a_file_that_is_not_the_processs_own_is_not_read, directory_make, directory_remove)
{
	_broker_ struct broker *l = NULL;
	static char big[WIRE_COMMAND_MAX + 1];

	assert_int_equal(broker__new(&l), 0);
	assert_argument_file(l, "none", NULL, 0);
	assert_int_equal(mkfifo(directory_path("fifo"), 0600), 0);
	assert_argument_file(l, "fifo", NULL, 0);
	assert_argument_file(l, ".", NULL, 0);
	assert_argument_file(l, "/dev/zero", NULL, 0);
	assert_argument_file(l, "/proc/self/fd/0", NULL, 0);
	assert_argument_file(l, "/proc/self/exe", NULL, 0);
	write_file("nul", "a\0b", 3);
	assert_argument_file(l, "nul", NULL, 0);
	memset(big, 'x', sizeof(big));
	write_file("big", big, sizeof(big));
	assert_argument_file(l, "big", NULL, 0);
	write_file("other", "secret", 6);
	if (geteuid() || chown(directory_path("other"), 12345, 12345)) {
		print_message("skipped: only root has files of others\n");
		return;
	}
	assert_argument_file(l, "other", NULL, 0);
}

TEST_CASE_WITH(only_a_compiler_has_argument_files, directory_make, directory_remove)
{
	char *const argv[] = {"cc", SLEEPS, "@args", NULL};
	_arguments_ struct arguments args = {0};
	_broker_ struct broker *l = NULL;
	pid_t pid;

	assert_int_equal(broker__new(&l), 0);
	write_file("args", "secret", 6);
	pid = execute(argv, directory);
	assert_int_equal(broker__arguments(l, pid, &args), 0);
	end(pid);
	assert_false(args.cut);
	assert_string_equal(args.bytes + args.size - sizeof("@args"), "@args");
}

TEST_CASE(memory_is_that_of_the_process)
{
	static const char text[] = "in memory";
	_broker_ struct broker *l = NULL;
	struct broker_memory ranges[] = {{(uintptr_t)text + 3, 6}, {(uintptr_t)text, 2}};
	uint8_t bytes[8];

	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__memory(l, getpid(), ranges, 2, bytes), 0);
	assert_memory_equal(bytes, "memoryin", 8);
	ranges[1].addr = 16;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(broker__memory(l, getpid(), ranges, 2, bytes), -EFAULT);
	assert_memory_equal(bytes, "xxxxxxxx", 8);
	ranges[1] = (struct broker_memory){(uintptr_t)text, UINT32_MAX};
	assert_int_equal(broker__memory(l, getpid(), ranges, 2, bytes), -E2BIG);
	assert_int_equal(broker__memory(l, getpid(), ranges, BROKER_RANGES_MAX + 1, bytes), -E2BIG);
	/* The child has answered all along. */
	assert_int_equal(broker__memory(l, getpid(), ranges, 1, bytes), 0);
}

TEST_CASE(a_process_without_a_compiler_is_none)
{
	struct broker_range loader = {0};
	struct library_file *file = NULL;
	_broker_ struct broker *l = NULL;
	pid_t pid = ended_child();

	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__library(l, getpid(), &file, &loader), -ENOENT);
	assert_int_equal(broker__library(l, pid, &file, &loader), -ESRCH);
	assert_int_equal(broker__library_beside(l, getpid(), "/bin/cat", &file), -ENOENT);
	assert_int_equal(broker__file(l, getpid(), "/no/such/file", &file), -ENOENT);
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
TEST_CASE(the_child_keeps_no_more_than_it_uses)
{
	const char *const sets[N_SETS] = {"CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"};
	const uint64_t kept = privilege_to_look(privilege_effective());
	uint64_t found[N_SETS];
	struct broker *l = NULL;
	pid_t child;
	_arguments_ struct arguments args = {0};

	wait_for_children();
	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__arguments(l, getpid(), &args), 0);
	child = only_child();
	for (int i = 0; i < N_SETS; i++)
		found[i] = capabilities(child, sets[i]);
	/* A failed test frees nothing, and the next test would wait for this child. */
	broker__free(take_ptr(l));
	assert_true(child > 0);
	assert_pairs(found[0], kept, found[1], kept, found[2], 0, found[3], 0);
	if (!geteuid())
		assert_int_equal(found[4] & ~kept, 0);
}

/* Map a second library: one of the two may be a lure, so the look must fail. */
static void map_another(const char *dir, struct broker *l)
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
	assert_int_equal(broker__only_library(l, getpid(), &file), -EMLINK);
	assert_null(file);
	munmap(mapped, 4096);
	unlink(name);
}

/* This process maps a file with a compiler's name, so it looks like a compiler. */
TEST_CASE(the_library_and_the_loader_are_found)
{
	char dir[] = "/tmp/qprof-test-XXXXXX", name[64];
	struct broker_range loader = {0};
	_library_file_ struct library_file *file = NULL;
	_broker_ struct broker *l = NULL;
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
	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__library(l, getpid(), &file, &loader), 0);
	assert_string_equal(library_file__path(file), name);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(library_file__is_inode(file, st.st_dev, st.st_ino));
	/* The descriptor is that of the file itself, not only a report of the child. */
	assert_int_equal(fstat(library_file__fd(file), &st), 0);
	assert_true(library_file__is_same(file));
	assert_true(fcntl(library_file__fd(file), F_GETFD) & FD_CLOEXEC);
	/* This function lies in the loader; sanitizers have one of the same name in the program. */
	in_loader = (uintptr_t)dlsym(RTLD_NEXT, "__tls_get_addr");
	assert_true(loader.start <= in_loader && in_loader < loader.end);
	assert_false(loader.start <= (uintptr_t)only_child && (uintptr_t)only_child < loader.end);
	library_file__free(take_ptr(file));
	assert_int_equal(broker__only_library(l, getpid(), &file), 0);
	map_another(dir, l);
	munmap(mapped, 4096);
	unlink(name);
	rmdir(dir);
}

/* To its owner, a stopped child looks like one that a slow file blocks. */
TEST_CASE(a_child_that_does_not_answer_is_replaced)
{
	_broker_ struct broker *l = NULL;
	_arguments_ struct arguments args = {0};
	pid_t first;

	wait_for_children();
	assert_int_equal(broker__new(&l), 0);
	assert_int_equal(broker__memory(l, getpid(), NULL, 0, NULL), 0);
	first = only_child();
	assert_true(first > 0);
	kill(first, SIGSTOP);
	broker_ns = 500000000;
	assert_int_equal(broker__arguments(l, getpid(), &args), -ETIME);
	broker_ns = LONG_NS;
	assert_int_equal(broker__arguments(l, getpid(), &args), 0);
	assert_true(waitpid(first, NULL, 0) == first || errno == ECHILD);
}

TEST_CASE(one_is_waited_for_though_the_machine_stood_still)
{
	_broker_ struct broker *l = NULL;
	_arguments_ struct arguments args = {0};

	assert_int_equal(broker__new(&l), 0);
	stands_still = true;
	assert_int_equal(broker__arguments(l, getpid(), &args), 0);
	assert_false(stands_still);
}

TEST_CASE(it_ends_with_us_and_keeps_nothing_open)
{
	int pair[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pair), 0);
	pid = fork();
	if (!pid) {
		struct broker *l = NULL;
		struct arguments args = {0};

		if (broker__new(&l) || broker__arguments(l, getpid(), &args))
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

int main(void)
{
	broker_ns = LONG_NS;
	return test_cases__run(NULL, NULL);
}
