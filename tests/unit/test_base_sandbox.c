// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "test.h"
#include "base/cleanup.h"

/* The wait status of a child that does this in a sandbox. */
static int status_in(enum sandbox kind, int (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(sandbox__enter(kind, 0) ? 99 : fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void assert_in(enum sandbox kind, int (*fn)(void))
{
	int status = status_in(kind, fn);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool is_refused(long result)
{
	return result == -1 && errno == EPERM;
}

/* 0, or which of them was not refused. */
static int first_allowed(const bool *refused, int n)
{
	for (int i = 0; i < n; i++)
		if (!refused[i])
			return i + 1;
	return 0;
}

static int harm(void)
{
	char byte = 0;
	struct iovec iov = {&byte, 1};
	char *const argv[] = {"true", NULL};
	const bool refused[] = {
		is_refused(syscall(SYS_openat, AT_FDCWD, "/tmp", O_TMPFILE | O_RDWR, 0600)),
		is_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY)),
		is_refused(syscall(SYS_openat, AT_FDCWD, "/tmp/qprof", O_CREAT, 0600)),
		is_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_TRUNC)),
		is_refused(syscall(SYS_unlinkat, AT_FDCWD, "/no/such/file", 0)),
		is_refused(syscall(SYS_kill, getpid(), 0)),
		is_refused(syscall(SYS_tgkill, getpid(), getpid(), 0)),
		is_refused(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0)),
		is_refused(syscall(SYS_process_vm_writev, getpid(), &iov, 1, &iov, 1, 0)),
		is_refused(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0)),
		is_refused(syscall(SYS_execve, "/bin/true", argv, NULL)),
		is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)),
		is_refused(syscall(SYS_bpf, 0, NULL, 0)),
		is_refused(syscall(SYS_setpriority, 0, 0, 0)),
		is_refused(syscall(SYS_fcntl, 1, F_SETOWN, getpid())),
		is_refused(syscall(SYS_fcntl, 1, F_DUPFD, 0)),
		is_refused(syscall(SYS_ioctl, 0, 0, 0)),
	};

	return first_allowed(refused, N_OF(refused));
}

TEST_CASE(neither_sandbox_lets_it_do_harm)
{
	assert_in(SANDBOX_PARSE, harm);
	assert_in(SANDBOX_LOOK, harm);
}

static int reach_out(void)
{
	struct stat st;
	char byte;
	struct iovec iov = {&byte, 1};
	const bool refused[] = {
		is_refused(open("/dev/null", O_RDONLY | O_CLOEXEC)),
		is_refused(syscall(SYS_newfstatat, AT_FDCWD, "/", &st, 0)),
		is_refused(syscall(SYS_process_vm_readv, getpid(), &iov, 1, &iov, 1, 0)),
		is_refused(syscall(SYS_sendmsg, 0, NULL, 0)),
	};

	return first_allowed(refused, N_OF(refused));
}

TEST_CASE(a_parser_reaches_nothing_else)
{
	assert_in(SANDBOX_PARSE, reach_out);
}

static int inherited;

static int parse(void)
{
	char *text = malloc(1u << 20);
	struct stat st;
	ssize_t n = text ? pread(inherited, text, 1u << 20, 0) : -1;

	free(text);
	return n <= 0 ? 1 : fstat(inherited, &st) ? 2 : fcntl(inherited, F_GETFD) < 0 ? 3 : 0;
}

TEST_CASE(a_parser_reads_what_is_open)
{
	inherited = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_in(SANDBOX_PARSE, parse);
	close(inherited);
}

static int look(void)
{
	_fclose_ FILE *f = fopen("/proc/self/status", "re");
	_closedir_ DIR *dir = opendir("/proc/self");
	char line[64], byte = 'a', copy = 0;
	struct iovec from = {&byte, 1}, to = {&copy, 1};
	struct stat st;

	if (!f || !fgets(line, sizeof(line), f) || !dir || !readdir(dir))
		return 1;
	if (stat("/", &st) || readlink("/proc/self/exe", line, sizeof(line)) < 0)
		return 2;
	if (access("/", R_OK) || faccessat(AT_FDCWD, "/", R_OK, AT_EACCESS))
		return 4;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1 || copy != 'a' ? 3 : 0;
}

TEST_CASE(a_child_that_looks_may_read)
{
	assert_in(SANDBOX_LOOK, look);
}

static void wait_to_be_killed(void)
{
	for (;;)
		sleep(1);
}

/* Of a child in the sandbox, as the kernel tells it: "Name:\t". */
static unsigned long long status_value(pid_t pid, const char *name)
{
	char path[64], line[256];
	_fclose_ FILE *f = NULL;
	unsigned long long value = ~0ull;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ":\t%llx", &value);
	return value;
}

TEST_CASE(capabilities_are_those_to_keep)
{
	const uint64_t keep = 1ull << CAP_SYS_PTRACE;
	const uint64_t own = status_value(getpid(), "CapPrm");
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!sandbox__enter(SANDBOX_PARSE, keep))
			(void)!write(ready[1], "", 1);
		wait_to_be_killed();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(status_value(pid, "CapPrm"), own & keep);
	assert_int_equal(status_value(pid, "CapEff") & ~keep, 0);
	assert_int_equal(status_value(pid, "CapInh"), 0);
	assert_int_equal(status_value(pid, "NoNewPrivs"), 1);
	assert_int_equal(status_value(pid, "Seccomp"), 2);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

#ifdef __x86_64__
/* getpid(2) by the numbers of i386, where the list would allow other calls. */
static int call_by_another_table(void)
{
	long result = 20;

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
	return 0;
}

TEST_CASE(another_table_of_calls_ends_it)
{
	assert_true(WIFSIGNALED(status_in(SANDBOX_PARSE, call_by_another_table)));
}
#endif

TEST_MAIN(NULL, NULL)
