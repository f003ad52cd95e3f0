// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cargo/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/own_path.h"

/* A large workspace has some thousands of units; a target directory that is years old has more. */
#define UNITS_MAX 20000
#define BYTES_MAX (64u << 20)
#define FILE_MAX  (256u << 10)
#define TIME_NS	  UINT64_C(1000000000)

#define HASH_DIGITS	16
#define FINGERPRINTS	".fingerprint"
#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct walk {
	struct units *out;
	const struct units *before;
	uint64_t until_ns;
};

static uint64_t mtime_of(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_mtim.tv_sec < 0
		       ? 0
		       : clock_of_timespec(&st.st_mtim);
}

/* A whole file that is not too large, into memory of the caller. */
static int read_whole(struct walk *w, int dir, const char *name, void **data, size_t *size)
{
	_close_ int fd = regular_file__open(dir, name, O_NOFOLLOW);
	_free_ char *to = NULL;
	struct stat st;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st))
		return fd < 0 ? fd : -errno;
	if (st.st_size > FILE_MAX)
		return -EFBIG;
	to = malloc((size_t)st.st_size + 1);
	if (!to)
		return -ENOMEM;
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, to + n, (size_t)st.st_size - n);

		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	to[n] = '\0';
	w->out->bytes += n;
	*data = take_ptr(to);
	*size = n;
	return 0;
}

/* The number that is in the file in hexadecimal, byte by byte from its lowest; 0: there is none. */
static uint64_t read_fingerprint(struct walk *w, int dir, const char *name)
{
	_free_ void *text = NULL;
	uint64_t value;
	size_t size;

	if (read_whole(w, dir, name, &text, &size) || size != HASH_DIGITS)
		return 0;
	value = strtoull(text, NULL, 16);
	return __builtin_bswap64(value);
}

static void unit__clear(struct unit *u)
{
	free(u->name);
	free(u->json);
	free(u->inputs);
}

/* Read the unit whose JSON text is `json` in the directory `dir`; `path` is that of the directory.
 */
static int read_unit(struct walk *w, int dir, const char *path, const char *json)
{
	size_t stem = strlen(json) - strlen(".json"), len = strlen(path);
	struct unit u = {.file = (uint32_t)len + 1, .hash = (uint32_t)len - HASH_DIGITS};
	_free_ char *inputs = NULL;
	const struct unit *old;
	size_t size;
	int err;

	if (asprintf(&u.name, "%s/%.*s", path, (int)stem, json) < 0)
		return -ENOMEM;
	if (asprintf(&inputs, "dep-%.*s", (int)stem, json) < 0) {
		free(u.name);
		return -ENOMEM;
	}
	u.package = (uint32_t)((char *)memrchr(u.name, '/', len) - u.name) + 1;
	u.noted_ns = mtime_of(dir, json);
	u.begun_ns = mtime_of(dir, "invoked.timestamp");
	u.as_of_ns = mtime_of(dir, inputs) ?: u.noted_ns;
	old = w->before ? units__find(w->before, u.name) : NULL;
	if (old && old->noted_ns == u.noted_ns && old->begun_ns == u.begun_ns) {
		unit__clear(&u);
		return 0;
	}
	u.fingerprint = read_fingerprint(w, dir, u.name + u.file);
	err = read_whole(w, dir, json, &u.json, &size)
		      ?: fingerprint__parse(&u.print, u.json, size);
	/* That of a build script that was run is not there. */
	if (!err && read_whole(w, dir, inputs, &u.inputs, &u.inputs_size) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = array__add(&w->out->at, &w->out->n, &w->out->capacity, &u);
	if (err)
		unit__clear(&u);
	return err == -ENOMEM ? err : 0;
}

static bool is_over(const struct walk *w)
{
	return w->out->n >= UNITS_MAX || w->out->bytes > BYTES_MAX ||
	       clock_ns(CLOCK_MONOTONIC) > w->until_ns;
}

/* Call `take` for each entry of a directory that may be of use, until it fails. */
static int each_entry(struct walk *w, int parent, const char *path, const char *name,
		      int (*take)(struct walk *w, int dir, const char *path, const char *entry))
{
	int fd = openat(parent, name, DIRECTORY_FLAGS), err = 0, n = 0;
	_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir && fd >= 0)
		close(fd);
	if (!dir)
		return 0;
	while (!err && (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		err = n++ > UNITS_MAX || is_over(w) ? -E2BIG : take(w, dirfd(dir), path, e->d_name);
	}
	return err;
}

static int take_file(struct walk *w, int dir, const char *path, const char *entry)
{
	const char *dot = strrchr(entry, '.');

	return dot && !strcmp(dot, ".json") ? read_unit(w, dir, path, entry) : 0;
}

/* "<package>-<hash>" in a directory of fingerprints. */
static int take_unit_directory(struct walk *w, int dir, const char *path, const char *entry)
{
	const char *hash = strrchr(entry, '-');
	_free_ char *below = NULL;

	if (!hash || hash == entry || strlen(hash + 1) != HASH_DIGITS)
		return 0;
	if (asprintf(&below, "%s/%s", path, entry) < 0)
		return -ENOMEM;
	return each_entry(w, dir, below, entry, take_file);
}

/* A profile, or a platform, below which there are profiles. */
static int take_profile(struct walk *w, int dir, const char *path, const char *entry)
{
	_close_ int fd = openat(dir, entry, DIRECTORY_FLAGS);
	_free_ char *below = NULL;
	struct stat st;

	if (fd < 0)
		return 0;
	if (!fstatat(fd, FINGERPRINTS, &st, AT_SYMLINK_NOFOLLOW)) {
		if (asprintf(&below, "%s%s%s/" FINGERPRINTS, path, *path ? "/" : "", entry) < 0)
			return -ENOMEM;
		return each_entry(w, fd, below, FINGERPRINTS, take_unit_directory);
	}
	return *path ? 0 : each_entry(w, dir, entry, entry, take_profile);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->name, ((const struct unit *)b)->name);
}

int units__read(struct units *out, int target, const struct units *before)
{
	struct walk w = {out, before, clock_ns(CLOCK_MONOTONIC) + TIME_NS};
	int err = each_entry(&w, target, "", ".", take_profile);

	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_name);
	return err;
}

uint32_t units__from(const struct units *units, const char *name, size_t len)
{
	return (uint32_t)bisect(units->n, i, strncmp(units->at[i].name, name, len) < 0);
}

const struct unit *units__find(const struct units *units, const char *name)
{
	uint32_t i = units__from(units, name, strlen(name) + 1);

	return i < units->n && !strcmp(units->at[i].name, name) ? &units->at[i] : NULL;
}

void units__clear(struct units *units)
{
	for (uint32_t i = 0; i < units->n; i++)
		unit__clear(&units->at[i]);
	free(units->at);
	*units = (struct units){0};
}
