// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Preloaded: the n-th call of a kind fails, and those after it if a limit is the reason, in
 * qprof-bpf and the processes that it forks, but not in the programs that it executes.
 * FAIL_CALLS=open|write|mmap|bpf|perf|connect:N:ERRNO; N is 0 to count only. The number of calls
 * goes to the file FAIL_COUNT at the end of the first process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char kind[16];
static unsigned int at;
static int with;
static unsigned int *calls; /* shared with forked processes */
static char count_file[4096];
static pid_t first;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int fails(const char *of)
{
	int is_limit = with == EMFILE || with == ENOSPC;
	unsigned int n;

	if (!calls || strcmp(of, kind))
		return 0;
	n = __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
	if (!at || (is_limit ? n < at : n != at))
		return 0;
	errno = with;
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *spec = getenv("FAIL_CALLS"), *file = getenv("FAIL_COUNT");
	void *page;

	if (!spec || strcmp(program_invocation_short_name, "qprof-bpf") ||
	    sscanf(spec, "%15[a-z]:%u:%d", kind, &at, &with) != 3)
		return;
	first = getpid();
	if (file)
		snprintf(count_file, sizeof(count_file), "%s", file);
	page = REAL(mmap)(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		calls = page;
}

__attribute__((destructor)) static void end(void)
{
	char text[16];
	int fd;

	if (!calls || !*count_file || getpid() != first)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	syscall(SYS_write, fd, text, (size_t)snprintf(text, sizeof(text), "%u", *calls));
}

#define OPEN(name)                                                         \
	int name(const char *path, int flags, ...)                         \
	{                                                                  \
		va_list ap;                                                \
		mode_t mode;                                               \
                                                                           \
		va_start(ap, flags);                                       \
		mode = va_arg(ap, mode_t);                                 \
		va_end(ap);                                                \
		return fails("open") ? -1 : REAL(name)(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                            \
	int name(int dir, const char *path, int flags, ...)                     \
	{                                                                       \
		va_list ap;                                                     \
		mode_t mode;                                                    \
                                                                                \
		va_start(ap, flags);                                            \
		mode = va_arg(ap, mode_t);                                      \
		va_end(ap);                                                     \
		return fails("open") ? -1 : REAL(name)(dir, path, flags, mode); \
	}
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                   \
	FILE *name(const char *path, const char *mode)                \
	{                                                             \
		return fails("open") ? NULL : REAL(name)(path, mode); \
	}
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int fd, const void *bytes, size_t n)
{
	return fails("write") ? -1 : REAL(write)(fd, bytes, n);
}

#define PWRITE(name)                                                       \
	ssize_t name(int fd, const void *bytes, size_t n, off64_t to)      \
	{                                                                  \
		return fails("write") ? -1 : REAL(name)(fd, bytes, n, to); \
	}
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	return fails("write") ? -1 : REAL(writev)(fd, parts, n);
}

#define MMAP(name)                                                                             \
	void *name(void *at_, size_t n, int prot, int flags, int fd, off64_t from)             \
	{                                                                                      \
		return fails("mmap") ? MAP_FAILED : REAL(name)(at_, n, prot, flags, fd, from); \
	}
MMAP(mmap)
MMAP(mmap64)

int connect(int fd, const struct sockaddr *to, socklen_t n)
{
	return fails("connect") ? -1 : REAL(connect)(fd, to, n);
}

long syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if ((number == SYS_bpf && fails("bpf")) || (number == SYS_perf_event_open && fails("perf")))
		return -1;
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
