/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which compiler a command will most likely run, found while something else is done: asking rustc
 * for its sysroot takes about as long as loading the BPF programs.
 */
#ifndef QPROF_CLI_LIKELY_H
#define QPROF_CLI_LIKELY_H

#include <pthread.h>
#include <stdbool.h>

#include "plan/find.h"

/* All zeroes is one that was not started. */
struct likely {
	pthread_t thread;
	bool running;
	int done_fd; /* an eventfd, while it is running */
	char *const *argv;
	struct plan_find_asked asked;
	char *path;
	int err;
};

/*
 * Start looking for the librustc_driver of `argv`, a command; NULL means plain `rustc`. It must
 * outlive the call of likely__finish().
 */
void likely__start(struct likely *l, char *const argv[]);

/* Can be read from once likely__finish() would not wait; -1 if it never would. */
int likely__done_fd(const struct likely *l);

/* Wait for it: 0 and its path, which is `l`'s, or an error of plan_find__of_toolchain(). */
int likely__finish(struct likely *l, const char **path);

/* If it was not waited for, ends the rustc it runs, and what that runs. */
void likely__clear(struct likely *l);

#endif /* QPROF_CLI_LIKELY_H */
