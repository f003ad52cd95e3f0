/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The invoker's own directories, by the XDG specification: an environment variable, or a place
 * below the home directory. Relative paths do not count.
 */
#ifndef QPROF_BASE_XDG_H
#define QPROF_BASE_XDG_H

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

#endif /* QPROF_BASE_XDG_H */
