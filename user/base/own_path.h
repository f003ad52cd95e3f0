/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Paths that no other user has laid. In a directory like /tmp, anybody can put a symlink where a
 * file of ours is expected to be, and it would be written or replaced wherever the link leads. The
 * kernel refuses such links (fs.protected_symlinks) neither everywhere nor to readlink(2).
 *
 * Others: neither root nor the user with whose rights this thread opens files.
 */
#ifndef QPROF_BASE_OWN_PATH_H
#define QPROF_BASE_OWN_PATH_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* What refused a path, to be freed by own_path__clear(). */
struct own_path_refusal {
	char *at;
	bool is_link; /* of another user; else a directory that others may replace things in */
	bool theirs;  /* because it belongs to one of them, not because they may write to it */
};

/*
 * Set *real to `path` without links, absolute, to be freed. What its last part names need not be
 * there. -ELOOP: a link of another user, in a directory that others may write to and that does not
 * belong to that user; with `alone` also -EPERM: on the way is a directory in which others may
 * replace things. *why is set then. Other errors are realpath(3)'s.
 */
int own_path__resolve(const char *path, bool alone, char **real, struct own_path_refusal *why);

/* strerror(3), but for own_path__resolve()'s -ELOOP. */
const char *own_path_error(int err);

/* Others own it. */
bool own_path_is_theirs(const struct stat *st);

void own_path__clear(struct own_path_refusal *why);
#define _own_path_refusal_ __cleanup(own_path__clear)

/*
 * The invoker's own directories, by the XDG specification: an environment variable, or a place
 * below the home directory. Relative paths do not count.
 */

enum xdg_kind {
	XDG_DATA,   /* $XDG_DATA_HOME, ~/.local/share */
	XDG_STATE,  /* $XDG_STATE_HOME, ~/.local/state */
	XDG_CONFIG, /* $XDG_CONFIG_HOME, ~/.config */
	XDG_CACHE,  /* $XDG_CACHE_HOME, ~/.cache */
};

/* `rest` below the directory; the caller frees it. NULL: no memory, or the invoker is unknown. */
char *xdg__path(enum xdg_kind kind, const char *rest);

/*
 * Make a directory, and those above it that are not there, for their owner alone. `path` is
 * absolute, and is as it was when this returns. 0 or a negative errno.
 */
int xdg__make(char *path);

/* Opens files that another user may have put in place of the expected ones. */

/*
 * Open a regular file for reading, below the directory `dir` or AT_FDCWD, with `flags` beside those
 * for reading. Returns a descriptor, or a negative errno: -EINVAL if it is anything else, such as a
 * FIFO, which is not waited for.
 */
int regular_file__open(int dir, const char *path, int flags);

/* The same as a stream. NULL: errno says why. */
FILE *regular_file__stream(int dir, const char *path, int flags);

/* The first line of a file, without its end. The caller frees it. NULL: errno says why. */
char *regular_file__line(int dir, const char *path);

#endif /* QPROF_BASE_OWN_PATH_H */
