// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Preloaded, as if on a slow file system: while the file $SLOW_FSYNC is there, no sync returns. The
 * first one makes $SLOW_FSYNC.waits.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static char slow[4096];

/* A program may hide the variable later. */
static __attribute__((constructor)) void read_path(void)
{
	const char *path = getenv("SLOW_FSYNC");

	snprintf(slow, sizeof(slow), "%s", path ? path : "");
}

int fsync(int fd)
{
	char waits[sizeof(slow) + 8];

	if (!access(slow, F_OK)) {
		snprintf(waits, sizeof(waits), "%s.waits", slow);
		close(open(waits, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	}
	while (!access(slow, F_OK))
		usleep(10000);
	return (int)syscall(SYS_fsync, fd);
}
