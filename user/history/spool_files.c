// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/spool_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"

/* Older than any writer that still runs. */
#define ABANDONED_S 3600

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void remove_abandoned(int dir, const char *name)
{
	struct stat st;

	if (!strncmp(name, SPOOL_UNWRITTEN, strlen(SPOOL_UNWRITTEN)) &&
	    !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_mtime + ABANDONED_S < time(NULL))
		unlinkat(dir, name, 0);
}

static int add(struct spool_files *f, int dir, const char *name)
{
	struct stat st;
	char *copy;
	int err;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	copy = strdup(name);
	err = copy ? array__add(&f->names, &f->n, &f->capacity, &copy) : -ENOMEM;
	if (err)
		free(copy);
	else
		f->bytes += (uint64_t)st.st_size;
	return err;
}

int spool_files__list(int dir, struct spool_files *f)
{
	_close_ int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_closedir_ DIR *listed = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int err = 0;

	if (!listed)
		return -errno;
	take_fd(copy);
	while (!err && (entry = readdir(listed))) {
		remove_abandoned(dir, entry->d_name);
		if (isdigit((unsigned char)*entry->d_name))
			err = add(f, dir, entry->d_name);
	}
	if (f->n)
		qsort(f->names, f->n, sizeof(*f->names), by_name);
	return err;
}

bool spool_files__waits(const char *name)
{
	size_t n = strlen(name), suffix = strlen(SPOOL_SUFFIX);

	return n > suffix && !strcmp(name + n - suffix, SPOOL_SUFFIX);
}

int spool_files__lock(int dir, const char *name)
{
	_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -1;
	/* Another process may have sent it just before the lock. */
	return fstat(fd, &st) || !st.st_nlink ? -1 : take_fd(fd);
}

void spool_files__clear(struct spool_files *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct spool_files){};
}
