// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/sudo_caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/first_environ.h"
#include "proc/processes.h"

/* sudo, and its process that waits at a terminal. */
#define BETWEEN_MOST 8
/* The kernel's limit of arguments and environment together. */
#define ENVIRON_MOST (6u << 20)

/* 1, 0, or a negative errno. */
static int runs_our_file(int process)
{
	struct stat ours, theirs;

	if (stat("/proc/self/exe", &ours) || fstatat(process, "exe", &theirs, 0))
		return -errno;
	return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/*
 * A descriptor of the process's directory in /proc: what is opened below it is that process's, even
 * if its number belongs to another one by then. Directories of root's, as of sudo, are passed over,
 * but that of a process of the caller's which runs our file and may not be looked into: -EPERM.
 */
static int open_caller(uid_t caller)
{
	pid_t pid = getppid();

	for (int i = 0; i < BETWEEN_MOST && pid > 1; i++, pid = process_parent(pid)) {
		_close_ int fd = -1;
		struct stat st;
		char path[32];

		snprintf(path, sizeof(path), "/proc/%d", (int)pid);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st))
			return -errno;
		if (st.st_uid == caller)
			return take_fd(fd);
		if (st.st_uid)
			return -ESRCH;
		if (process_uid(pid) == caller && runs_our_file(fd))
			return -EPERM;
	}
	return -ESRCH;
}

static char *read_environ(int process, size_t *size)
{
	_close_ int fd = openat(process, "environ", O_RDONLY | O_CLOEXEC);
	_free_ char *block = fd < 0 ? NULL : malloc(ENVIRON_MOST);
	ssize_t n = 1;

	for (*size = 0; block && n > 0 && *size<ENVIRON_MOST; *size += n> 0 ? (size_t)n : 0)
		n = read(fd, block + *size, ENVIRON_MOST - *size);
	return n ? NULL : take_ptr(block);
}

char **sudo_caller__environ(uid_t caller)
{
	_close_ int process = open_caller(caller);
	_free_ char *block = NULL;
	char **env;
	size_t size, n = 0;

	if (process < 0 || runs_our_file(process) != 1) {
		errno = process == -EPERM ? EPERM : ESRCH;
		return NULL;
	}
	block = read_environ(process, &size);
	if (!block || first_environ__split(block, block + size, &env))
		return NULL;
	for (char **entry = env; *entry; entry++)
		if (strncmp(*entry, "SUDO_", strlen("SUDO_")))
			env[n++] = *entry;
	env[n] = NULL;
	take_ptr(block);
	return env;
}
