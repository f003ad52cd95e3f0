// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/history_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"

#define NAME	 ".history"
#define TEXT_MAX 4096 /* of the name of a store */

static int make(int dir, const char *store, uint64_t *since_ns)
{
	_close_ int fd =
		openat(dir, NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t len = strlen(store);

	if (fd < 0)
		return -errno;
	if (write(fd, store, len) != (ssize_t)len)
		return -EIO;
	*since_ns = clock_ns(CLOCK_REALTIME);
	return 0;
}

/* Whether there is a mark of this store. */
static bool read_mark(int dir, const char *store, uint64_t *since_ns)
{
	_close_ int fd = openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[TEXT_MAX];
	struct stat st;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n < 0 || (size_t)n != strlen(store) || memcmp(text, store, (size_t)n) || fstat(fd, &st))
		return false;
	*since_ns = clock_of_timespec(&st.st_mtim);
	return true;
}

/* The trace, and all that were written before it, are dealt with. */
static void move_mark(void *ctx, const char *path)
{
	const struct trace_dir *d = ctx;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
	struct stat st;

	if (fstatat(d->fd, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW))
		return;
	times[1] = st.st_mtim;
	/* If it fails, the next recording adds what is there already, which changes nothing. */
	if (utimensat(d->fd, NAME, times, AT_SYMLINK_NOFOLLOW))
		diag_verbose("%s/" NAME " cannot be written: %s", d->path, strerror(errno));
}

static int by_time(const void *a, const void *b)
{
	const struct dir_trace *x = a, *y = b;

	return (x->kept.time_ns > y->kept.time_ns) - (x->kept.time_ns < y->kept.time_ns);
}

void history_mark__catch_up(const struct trace_dir *d, const char *store, struct history_queue *q)
{
	_dir_traces_ struct dir_traces list = {0};
	uint64_t since_ns;
	uint32_t n = 0; /* that are left over for sure: two traces may have the same time */
	int err;

	store = store ?: "";
	err = read_mark(d->fd, store, &since_ns) ? 0 : make(d->fd, store, &since_ns);
	err = err ?: trace_dir__list(d, &list);
	if (err) {
		diag_warn("cannot find out which traces in %s are not in the history: %s; add them "
			  "with \"history add\"",
			  d->path, strerror(-err));
		return;
	}
	history_queue__tell(q, move_mark, (void *)d);
	if (list.n)
		qsort(list.at, list.n, sizeof(*list.at), by_time);
	for (uint32_t i = 0; i < list.n; i++) {
		const struct dir_trace *one = &list.at[i];
		_free_ char *path = NULL;

		if (one->kept.time_ns < since_ns)
			continue;
		if (asprintf(&path, "%s/%s", d->path, one->name) < 0)
			break;
		history_queue__put(q, path);
		n += one->kept.time_ns > since_ns;
	}
	if (n)
		diag_info("adding to the history what the last recording left: %u trace%s in %s", n,
			  n == 1 ? "" : "s", d->path);
}
