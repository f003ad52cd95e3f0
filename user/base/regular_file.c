// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

int regular_file__open(int dir, const char *path, int flags)
{
	_close_ int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? take_fd(fd) : -EINVAL;
}

FILE *regular_file__stream(int dir, const char *path, int flags)
{
	_close_ int fd = regular_file__open(dir, path, flags);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd < 0)
		errno = -fd;
	if (f)
		take_fd(fd);
	return f;
}

char *regular_file__line(int dir, const char *path)
{
	_fclose_ FILE *f = regular_file__stream(dir, path, 0);
	char line[PATH_MAX + 16];

	if (!f)
		return NULL;
	if (!fgets(line, sizeof(line), f))
		*line = 0;
	line[strcspn(line, "\n")] = 0;
	return strdup(line);
}
