/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the librustc_driver of a process, of a compiler's executable, or of a toolchain is.
 *
 * Nothing here prints: a process that is no compiler is not always an error. Paths are the
 * caller's to free, and untouched on failure.
 */
#ifndef QPROF_PLAN_FIND_H
#define QPROF_PLAN_FIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* By its file's name. */
bool plan_find__is_library(const char *path);

/*
 * The library mapped into a process, by a path that opens it from here: under /proc/PID/root if
 * the process has another root or mount namespace, in /proc/PID/map_files if it was deleted.
 * -ESRCH no such process, or it has exited; -ENOENT it maps no librustc_driver; -EACCES; -EPERM it
 * was deleted, and we lack CAP_CHECKPOINT_RESTORE, with which it can be opened still.
 */
int plan_find__of_pid(pid_t pid, char **path);

/*
 * The library of the compiler whose executable is `exe`: <sysroot>/bin/rustc -> <sysroot>/lib.
 * Follows symbolic links. -ENOENT if `exe` is not in such a place: a rustup proxy is not.
 */
int plan_find__of_exe(const char *exe, char **path);

/*
 * A rustc that one thread asks, for another to end. It is in a process group of its own: it may be
 * a script, and may have to download a toolchain first. Zeroes, but for the lock.
 */
struct plan_find_asked {
	pthread_mutex_t lock;
	pid_t group; /* 0: nobody is asked */
	bool given_up;
};

/* Send it a signal, with all that it has started; none is started from now on. */
void plan_find__give_up(struct plan_find_asked *asked, int sig);

/*
 * The library of the toolchain that the invoking user (base/invoker.h) gets for `rustc +toolchain`
 * in this directory, or for plain `rustc` if `toolchain` is NULL. `rustc` is a path, or a name to
 * be found in their PATH. rustc's complaints go to stderr. -ENOENT there is no such rustc; -EIO
 * rustc failed; -ENODATA its sysroot holds no librustc_driver. `asked` may be NULL; -EINTR it was
 * given up before it was asked.
 */
int plan_find__of_toolchain(const char *rustc, const char *toolchain, struct plan_find_asked *asked,
			    char **path);

/* One line for a person about an error of plan_find__of_toolchain(), with the next step. */
const char *plan_find__toolchain_error(int err);

/* The first librustc_driver in text as /proc/PID/maps has it. `range` ("start-end", as in
 * map_files) needs 40 bytes. -ENOENT if there is none. For plan_find__of_pid() and its tests. */
int plan_find__in_maps(FILE *maps, char **path, char *range);

#endif /* QPROF_PLAN_FIND_H */
