// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/spool.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/own_path.h"
#include "history/json_lines.h"

/* ---- Files by name ---- */

#define SPOOL_SUFFIX	".jsonl"
#define SPOOL_DAMAGED	".damaged"
#define SPOOL_REFUSED	".refused"
#define SPOOL_UNWRITTEN ".unwritten-"

/* Names that begin with a time, in order: the oldest first. */
struct spool_files {
	char **names;
	uint32_t n;
	uint32_t capacity;
	uint64_t bytes; /* of all */
};

/* Older than any writer that still runs. */
#define ABANDONED_S 3600

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_file(struct spool_files *f, int dir, const char *name)
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

/* Also removes what a killed writer left. Negative errno. */
static int spool_files__list(int dir, struct spool_files *f)
{
	_close_ int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_closedir_ DIR *listed = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int err = 0;

	if (!listed)
		return -errno;
	take_fd(copy);
	while (!err && (entry = readdir(listed))) {
		const char *name = entry->d_name;
		struct stat st;

		if (isdigit((unsigned char)*name))
			err = add_file(f, dir, name);
		else if (!strncmp(name, SPOOL_UNWRITTEN, strlen(SPOOL_UNWRITTEN)) &&
			 !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
			 st.st_mtime + ABANDONED_S < time(NULL))
			unlinkat(dir, name, 0);
	}
	if (f->n)
		qsort(f->names, f->n, sizeof(*f->names), by_name);
	return err;
}

/* Whether it is a build that waits: not one that was set aside. */
static bool spool_files__waits(const char *name)
{
	size_t n = strlen(name), suffix = strlen(SPOOL_SUFFIX);

	return n > suffix && !strcmp(name + n - suffix, SPOOL_SUFFIX);
}

/* A file that is locked, or -1: it is gone, or another process has locked it. */
static int spool_files__lock(int dir, const char *name)
{
	_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -1;
	/* Another process may have sent it just before the lock. */
	return fstat(fd, &st) || !st.st_nlink ? -1 : take_fd(fd);
}

static void spool_files__clear(struct spool_files *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct spool_files){};
}
#define _spool_files_ __cleanup(spool_files__clear)

/* A byte for each build that was dropped. */
#define DROPPED "dropped"

/* A server that refuses so many builds one by one, and takes none, refuses all. */
#define REFUSED_MAX 3

/* ---- The directory --------------------------------------------------------------------------- */

int spool__make(struct spool *s, const char *server)
{
	_free_ char *name = NULL;
	struct stat st;
	int err;

	*s = (struct spool){.dir = -1, .limits = {SPOOL_FILES_MAX, SPOOL_BYTES_MAX}};
	if (asprintf(&name, "qprof-bpf/spool/%s", server) < 0)
		name = NULL;
	s->path = name ? xdg__path(XDG_STATE, name) : NULL;
	if (!s->path)
		return diag_error_r(-ENOMEM, "cannot keep builds for a server: %s",
				    strerror(ENOMEM));
	err = xdg__make(s->path);
	if (!err) {
		s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->dir < 0 || fstat(s->dir, &st))
			err = -errno;
		/* Others could read builds there, or plant some that are sent with the password. */
		else if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
			err = -EPERM;
	}
	return err ? diag_error_r(err, "cannot keep builds in %s: %s", s->path,
				  err == -EPERM
					  ? "others may write to it, or it belongs to another user"
					  : strerror(-err))
		   : 0;
}

void spool__clear(struct spool *s)
{
	if (s->dir >= 0)
		close(s->dir);
	free(s->path);
	*s = (struct spool){.dir = -1};
}

uint64_t spool__count(const struct spool *s)
{
	_spool_files_ struct spool_files f = {};
	uint64_t n = 0;

	spool_files__list(s->dir, &f);
	for (uint32_t i = 0; i < f.n; i++)
		n += spool_files__waits(f.names[i]);
	return n;
}

/* ---- What was dropped ------------------------------------------------------------------------ */

uint64_t spool__take_dropped(struct spool *s)
{
	_close_ int fd = openat(s->dir, DROPPED, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX) || fstat(fd, &st) || ftruncate(fd, 0))
		return 0;
	return (uint64_t)st.st_size;
}

/* Remove a build that waits, and count it. False: another process has it. */
static bool drop(struct spool *s, const char *name)
{
	_close_ int fd = spool_files__lock(s->dir, name), dropped = -1;

	if (fd < 0 || unlinkat(s->dir, name, 0))
		return false;
	dropped = openat(s->dir, DROPPED, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (dropped < 0 || flock(dropped, LOCK_EX) || write(dropped, "", 1) != 1)
		diag_warn("cannot count a dropped build in %s", s->path);
	diag_warn("%s is full: its oldest build, %s, is dropped", s->path, name);
	return true;
}

/* Down to the limits, by what was there before the newest file, which stays. */
static void bound(struct spool *s, const struct spool_files *before, const char *newest)
{
	uint64_t n = before->n + 1UL, bytes = before->bytes;
	struct stat st;

	if (!fstatat(s->dir, newest, &st, AT_SYMLINK_NOFOLLOW))
		bytes += (uint64_t)st.st_size;
	for (uint32_t i = 0; i < before->n; i++) {
		const char *name = before->names[i];

		if (n <= s->limits.files && bytes <= s->limits.bytes)
			break;
		if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) || !drop(s, name))
			continue;
		n--;
		bytes -= (uint64_t)st.st_size < bytes ? (uint64_t)st.st_size : bytes;
	}
}

/* ---- Putting --------------------------------------------------------------------------------- */

static bool waits_already(const struct spool_files *f, const char *build)
{
	char end[HISTORY_ID_SIZE + sizeof(SPOOL_SUFFIX)];
	size_t len = (size_t)snprintf(end, sizeof(end), "%.36s" SPOOL_SUFFIX, build);

	for (uint32_t i = 0; i < f->n; i++) {
		size_t n = strlen(f->names[i]);

		if (n > len && !strcmp(f->names[i] + n - len, end))
			return true;
	}
	return false;
}

static int write_file(const struct spool *s, const char *name, const struct history_rows *rows)
{
	int fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	_fclose_ FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int err = out ? 0 : -errno;

	if (!out && fd >= 0)
		close(fd);
	if (!err)
		err = json_lines__write(out, rows);
	if (!err && (fflush(out) || fsync(fd)))
		err = -errno;
	return err;
}

int spool__put(struct spool *s, const struct history_rows *rows)
{
	_spool_files_ struct spool_files before = {};
	char name[64], unwritten[96];
	struct timespec now;
	int err = spool_files__list(s->dir, &before);

	if (err)
		return diag_error_r(err, "cannot read %s: %s", s->path, strerror(-err));
	if (waits_already(&before, rows->build.build))
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(name, sizeof(name), "%010lld%09ld-%.36s" SPOOL_SUFFIX, (long long)now.tv_sec,
		 now.tv_nsec, rows->build.build);
	snprintf(unwritten, sizeof(unwritten), SPOOL_UNWRITTEN "%d-%s", getpid(), name);
	err = write_file(s, unwritten, rows);
	if (!err && renameat(s->dir, unwritten, s->dir, name))
		err = -errno;
	if (err) {
		unlinkat(s->dir, unwritten, 0);
		return diag_error_r(err, "cannot keep the build in %s: %s%s", s->path,
				    strerror(-err),
				    err == -ENOSPC || err == -EDQUOT ? "; free some space"
								     : diag_step(err, ""));
	}
	fsync(s->dir);
	bound(s, &before, name);
	return 0;
}

/* ---- Sending --------------------------------------------------------------------------------- */

struct batch {
	struct history_rows builds[SPOOL_BATCH];
	const char *names[SPOOL_BATCH];
	int locks[SPOOL_BATCH];
	size_t n;
	uint64_t bytes;
};

static void clear_batch(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		history_rows__clear(&b->builds[i]);
		close(b->locks[i]);
	}
	b->n = 0;
	b->bytes = 0;
}
#define _batch_ __cleanup(clear_batch)

static int read_build(int fd, struct history_rows *rows)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	_fclose_ FILE *in = copy < 0 ? NULL : fdopen(copy, "r");
	_json_lines_ struct json_lines *lines = NULL;
	int err;

	if (!in)
		return -errno;
	err = json_lines__new(in, &lines);
	if (!err)
		err = json_lines__next(lines, rows);
	return err == 1 ? 0 : err ? err : -EBADMSG;
}

/* For a person to look at; it stands in nobody's way. */
static void set_aside(const struct spool *s, const char *name, const char *suffix)
{
	char other[NAME_MAX + sizeof(SPOOL_DAMAGED)];

	snprintf(other, sizeof(other), "%s%s", name, suffix);
	renameat(s->dir, name, s->dir, other);
}

static int take_build(const struct spool *s, struct batch *b, const char *name,
		      struct spool_aside *aside)
{
	_close_ int fd = spool_files__lock(s->dir, name);
	struct history_rows *rows = &b->builds[b->n];
	struct stat st;
	int err;

	if (fd < 0)
		return 0;
	history_rows__init(rows);
	err = read_build(fd, rows);
	if (!err && fstat(fd, &st))
		err = -errno;
	if (err) {
		history_rows__clear(rows);
		aside->newer += err == -EPROTONOSUPPORT;
		if (err == -EBADMSG) {
			set_aside(s, name, SPOOL_DAMAGED);
			aside->damaged++;
		}
		/* A file that cannot be read now stays; the next run reads it again. */
		return err == -ENOMEM ? err : 0;
	}
	b->names[b->n] = name;
	b->locks[b->n++] = take_fd(fd);
	b->bytes += (uint64_t)st.st_size;
	return 0;
}

static int send_some(const struct spool *s, const struct batch *b, size_t from, size_t n,
		     spool_send send, void *ctx)
{
	int err = send(ctx, b->builds + from, n);

	for (size_t i = from; !err && i < from + n; i++)
		unlinkat(s->dir, b->names[i], 0);
	return err;
}

static bool may_take_others(int err)
{
	return err == -EREMOTEIO || err == -ENOBUFS;
}

/*
 * One by one, the newest first: what was refused before is among the oldest. That a build is at
 * fault, and not the server, is known once the server takes another.
 */
static int send_each(const struct spool *s, const struct batch *b, spool_send send, void *ctx,
		     struct spool_aside *aside)
{
	int results[SPOOL_BATCH] = {}, last = 0;
	unsigned int refused = 0;
	bool taken = false;

	for (size_t i = b->n; i-- > 0 && (taken || refused < REFUSED_MAX);) {
		results[i] = send_some(s, b, i, 1, send, ctx);
		if (results[i] && !may_take_others(results[i]))
			return results[i];
		taken |= !results[i];
		refused += !!results[i];
		last = results[i] ? results[i] : last;
	}
	if (!taken)
		return refused == REFUSED_MAX ? -ECANCELED : last;
	for (size_t i = 0; i < b->n; i++) {
		if (results[i] != -EREMOTEIO)
			continue;
		set_aside(s, b->names[i], SPOOL_REFUSED);
		aside->refused++;
		snprintf(aside->name, sizeof(aside->name), "%.*s" SPOOL_REFUSED,
			 NAME_MAX - (int)sizeof(SPOOL_REFUSED), b->names[i]);
	}
	return last;
}

int spool__drain(struct spool *s, spool_send send, void *ctx, struct spool_aside *aside)
{
	_spool_files_ struct spool_files f = {};
	_batch_ struct batch b = {};
	int err = spool_files__list(s->dir, &f), last = err;

	*aside = (struct spool_aside){};
	for (uint32_t i = 0; !err && i < f.n; i++) {
		if (spool_files__waits(f.names[i]))
			err = take_build(s, &b, f.names[i], aside);
		if (err || (b.n < SPOOL_BATCH && b.bytes < SPOOL_BATCH_BYTES && i + 1 < f.n))
			continue;
		err = b.n ? send_some(s, &b, 0, b.n, send, ctx) : 0;
		if (may_take_others(err) && b.n > 1)
			err = send_each(s, &b, send, ctx, aside);
		clear_batch(&b);
		last = err ? err : last;
		err = may_take_others(err) ? 0 : err;
	}
	return err ? err : last;
}
