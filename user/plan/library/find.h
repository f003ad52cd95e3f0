/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the librustc_driver of a process, of a compiler's executable, or of a toolchain.
 *
 * Nothing here prints: a process that is no compiler is not always an error. The caller frees the
 * paths; they are untouched on failure.
 */
#ifndef QPROF_PLAN_LIBRARY_FIND_H
#define QPROF_PLAN_LIBRARY_FIND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "plan/library/file.h"

/* Judged by the file's name. */
bool plan_find__is_library(const char *path);

/*
 * The library mapped into a process, by a path that opens it from here: under /proc/PID/root if
 * the process has another root or mount namespace, in /proc/PID/map_files if it was deleted, or
 * the process has both. -ESRCH no such process, or it has exited; -ENOENT it maps no
 * librustc_driver; -EACCES; -EPERM only map_files leads there, and we lack CAP_CHECKPOINT_RESTORE.
 */
int plan_find__of_pid(pid_t pid, char **path);

/*
 * 0 if `file` is the inode that the process has mapped, -ESTALE if it is another: the path of
 * plan_find__of_pid() can be replaced before it is opened. Without CAP_CHECKPOINT_RESTORE the
 * mapped inode cannot be read, and any file passes: the inode number in /proc/PID/maps is no
 * substitute, because on btrfs and on overlays it differs from the one of stat(2). -EAGAIN if the
 * mapping keeps changing; other errors as plan_find__of_pid().
 */
int plan_find__check_mapped(pid_t pid, const struct library_file *file);

/*
 * The library of the compiler whose executable is `exe`: <sysroot>/bin/rustc -> <sysroot>/lib.
 * Follows symbolic links. -ENOENT if `exe` is not in such a place: a rustup proxy is not.
 */
int plan_find__of_exe(const char *exe, char **path);

/*
 * A rustc that one thread runs and another may end. It has a process group of its own: it may be a
 * script, and may have to download a toolchain first. Initialise with zeroes, and the lock.
 */
struct plan_find_asked {
	pthread_mutex_t lock;
	pid_t group; /* 0: no rustc is running */
	bool given_up;
	atomic_bool rustup; /* it is rustup's stand-in */
};

/*
 * Send a signal to this rustc and all processes that it has started; no other one is started from
 * now on.
 */
void plan_find__give_up(struct plan_find_asked *asked, int sig);

/*
 * The library of the toolchain that the invoking user (base/invoker.h) gets for `rustc +toolchain`
 * in this directory, or for plain `rustc` if `toolchain` is NULL. `rustc` is a path, or a name to
 * be found in the user's PATH. -ENOENT there is no such rustc; -EIO rustc failed; -ENODATA its
 * sysroot holds no librustc_driver. With `asked` it is silent, and no toolchain is downloaded by a
 * rustup later than 1.27; -EINTR it was given up before rustc was started. NULL: rustc's error
 * messages go to stderr.
 */
int plan_find__of_toolchain(const char *rustc, const char *toolchain, struct plan_find_asked *asked,
			    char **path);

/* One line for a person about an error of plan_find__of_toolchain(), with the next step. */
const char *plan_find__toolchain_error(int err);

/*
 * The first librustc_driver in text in the format of /proc/PID/maps. `range` ("start-end", as in
 * map_files) needs 40 bytes. -ENOENT if there is none. For plan_find__of_pid() and its tests.
 */
int plan_find__in_maps(FILE *maps, char **path, char *range);

#endif /* QPROF_PLAN_LIBRARY_FIND_H */
