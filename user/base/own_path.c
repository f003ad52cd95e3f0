// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/own_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invoker.h"
#include "base/cleanup.h"

/* As many as the kernel follows. */
#define LINKS_MAX 40

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

struct way {
	char *at;   /* without links, "" for the root */
	char *rest; /* to be resolved below it */
	bool alone;
	unsigned int n_links;
	struct own_path_refusal *why;
};

bool own_path_is_theirs(const struct stat *st)
{
	return st->st_uid && st->st_uid != (uid_t)setfsuid((uid_t)-1);
}

static int refuse(struct way *w, int err, const char *at, bool theirs)
{
	w->why->at = strdup(*at ? at : "/");
	w->why->is_link = err == -ELOOP;
	w->why->theirs = theirs;
	return w->why->at ? err : -ENOMEM;
}

/* Go on at the target of the link `path`, which lies in the directory w->at. */
static int follow(struct way *w, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	char *rest;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	if (asprintf(&rest, "%s/%s", target, w->rest) < 0)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	if (*target == '/')
		*w->at = '\0';
	return 0;
}

static int enter(struct way *w, const char *name)
{
	struct stat directory, st;
	_free_ char *path = NULL;
	bool theirs;

	if (stat(*w->at ? w->at : "/", &directory))
		return -errno;
	theirs = own_path_is_theirs(&directory);
	if (w->alone &&
	    (theirs || (directory.st_mode & OTHERS_WRITE && !(directory.st_mode & S_ISVTX))))
		return refuse(w, -EPERM, w->at, theirs);
	if (asprintf(&path, "%s/%s", w->at, name) < 0)
		return -ENOMEM;
	if (lstat(path, &st)) {
		/* Only the last part may be missing. */
		if (errno != ENOENT || w->rest[strspn(w->rest, "/")])
			return -errno;
	} else if (S_ISLNK(st.st_mode)) {
		if (own_path_is_theirs(&st) && st.st_uid != directory.st_uid &&
		    directory.st_mode & OTHERS_WRITE)
			return refuse(w, -ELOOP, path, true);
		return follow(w, path);
	}
	free(w->at);
	w->at = take_ptr(path);
	return 0;
}

static int resolve(struct way *w)
{
	while (true) {
		_free_ char *name = NULL;
		size_t len;
		int err;

		memmove(w->rest, w->rest + strspn(w->rest, "/"),
			strlen(w->rest) + 1 - strspn(w->rest, "/"));
		len = strcspn(w->rest, "/");
		if (!len)
			return 0;
		name = strndup(w->rest, len);
		if (!name)
			return -ENOMEM;
		memmove(w->rest, w->rest + len, strlen(w->rest + len) + 1);
		if (!strcmp(name, ".."))
			*(strrchr(w->at, '/') ?: w->at) = '\0';
		else if (strcmp(name, ".") && (err = enter(w, name)))
			return err;
	}
}

int own_path__resolve(const char *path, bool alone, char **real, struct own_path_refusal *why)
{
	_free_ char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
	struct way w = {.at = strdup(""), .alone = alone, .why = why};
	int err = 0;

	*why = (struct own_path_refusal){0};
	if (!*path)
		err = -ENOENT;
	else if (*path != '/' && !cwd)
		err = -errno;
	else if (!w.at || asprintf(&w.rest, "%s/%s", cwd ?: "", path) < 0)
		err = -ENOMEM;
	err = err ?: resolve(&w);
	free(w.rest);
	if (err) {
		free(w.at);
		return err;
	}
	if (!*w.at) {
		free(w.at);
		w.at = strdup("/");
	}
	*real = w.at;
	return w.at ? 0 : -ENOMEM;
}

const char *own_path_error(int err)
{
	return err == -ELOOP ? "a symlink in it belongs to another user, or there are too many"
			     : strerror(-err);
}

void own_path__clear(struct own_path_refusal *why)
{
	free(why->at);
	*why = (struct own_path_refusal){0};
}

/* ---- Directories of a user ------------------------------------------------------------------- */

static const struct {
	const char *variable, *below_home;
} places[] = {
	[XDG_DATA] = {"XDG_DATA_HOME", ".local/share"},
	[XDG_STATE] = {"XDG_STATE_HOME", ".local/state"},
	[XDG_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
	[XDG_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

static const char *absolute(const char *path)
{
	return path && *path == '/' ? path : NULL;
}

char *xdg__path(enum xdg_kind kind, const char *rest)
{
	const char *base = absolute(getenv(places[kind].variable));
	const char *home = absolute(getenv("HOME"));
	_invoker_ struct invoker inv = {};
	char *path;

	if (base)
		return asprintf(&path, "%s/%s", base, rest) < 0 ? NULL : path;
	if (!home && invoker__get(&inv))
		return NULL;
	return asprintf(&path, "%s/%s/%s", home ?: inv.home, places[kind].below_home, rest) < 0
		       ? NULL
		       : path;
}

int xdg__make(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		int failed;

		*at = '\0';
		failed = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
		*at = '/';
		if (failed)
			return failed;
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

/* ---- Regular files --------------------------------------------------------------------------- */

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
