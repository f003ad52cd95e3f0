// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/own_path.h"

#define NUMBERS_MAX 64

static int check_owner(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		return diag_error_r(-errno, "cannot look at %s: %s%s", path, strerror(errno),
				    diag_step(-errno, ""));
	if (own_path_is_theirs(&st) || st.st_mode & (S_IWGRP | S_IWOTH))
		return diag_error_r(-EPERM,
				    "other users may write to %s; name a directory that only you "
				    "may write to (chmod go-w), as the traces are of all users",
				    path);
	return 0;
}

static int refuse(const char *path, const struct own_path_refusal *why)
{
	if (why->is_link)
		return diag_error_r(-EPERM,
				    "%s leads over %s, a symlink of another user; name the "
				    "directory itself",
				    path, why->at);
	return diag_error_r(
		-EPERM,
		"other users may replace %s, as %s%s%s; name a directory below ones that "
		"only root or you may write to",
		path, why->theirs ? "" : "they may write to ", why->at,
		why->theirs ? " is theirs" : "");
}

int trace_dir__open(struct trace_dir *d, const char *path)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	int err;

	*d = TRACE_DIR_NONE;
	err = own_path__resolve(path, true, &d->path, &why);
	if (why.at)
		return refuse(path, &why);
	if (!err)
		d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d->fd < 0)
		return diag_error_r(err ?: -errno, "cannot write traces to %s: %s%s", path,
				    strerror(err ? -err : errno), diag_step(err ?: -errno, ""));
	return check_owner(d->fd, path);
}

/* In a name, after the time. */
static void write_numbers(char text[NUMBERS_MAX], uint32_t user, int root, unsigned int n)
{
	char more[16] = "";

	if (n > 1)
		snprintf(more, sizeof(more), "-%u", n);
	snprintf(text, NUMBERS_MAX, "-u%" PRIu32 "-p%d%s.qpt", user, root, more);
}

char *trace_dir__name(const struct trace_dir *d, const struct build_of *b, time_t now,
		      unsigned int n)
{
	char utc[32], numbers[NUMBERS_MAX], *name;
	struct tm tm;

	strftime(utc, sizeof(utc), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	write_numbers(numbers, b->user, (int)b->root, n);
	if (asprintf(&name, "%s/qprof-%s%s", d->path, utc, numbers) < 0)
		return NULL;
	return name;
}

/* The name is removed by --keep: a copy of another name, however similar, is not ours. */
bool trace_dir_user(const char *name, uint32_t *user)
{
	char numbers[NUMBERS_MAX];
	unsigned int n = 0;
	int root;

	for (const char *form = "qprof-00000000T000000Z"; *form; form++, name++)
		if (*form == '0' ? !isdigit((unsigned char)*name) : *name != *form)
			return false;
	if (sscanf(name, "-u%" SCNu32 "-p%d-%u", user, &root, &n) < 2)
		return false;
	write_numbers(numbers, *user, root, n);
	return !strcmp(name, numbers);
}

static int add_dir_trace(const struct trace_dir *d, struct dir_traces *list, const char *name)
{
	struct dir_trace one = {0};
	struct stat st;

	if (!trace_dir_user(name, &one.kept.user) ||
	    fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	one.kept.bytes = (uint64_t)st.st_blocks * 512;
	one.kept.time_ns = clock_of_timespec(&st.st_mtim);
	one.name = strdup(name);
	if (!one.name || array__add(&list->at, &list->n, &list->capacity, &one)) {
		free(one.name);
		return -ENOMEM;
	}
	return 0;
}

int trace_dir__list(const struct trace_dir *d, struct dir_traces *list)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	*list = (struct dir_traces){0};
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		err = add_dir_trace(d, list, entry->d_name);
	closedir(dir);
	return err;
}

void dir_traces__clear(struct dir_traces *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->at[i].name);
	free(list->at);
	*list = (struct dir_traces){0};
}

int trace_dir__remove(const struct trace_dir *d, const char *name)
{
	return unlinkat(d->fd, name, 0) ? -errno : 0;
}

void trace_dir__close(struct trace_dir *d)
{
	cleanup_close_p(&d->fd);
	free(d->path);
	*d = TRACE_DIR_NONE;
}
