/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The compiler that a command will most likely run, found by a thread: asking rustc for its sysroot
 * takes about as long as loading the BPF programs.
 */
#ifndef QPROF_RECORD_LIKELY_H
#define QPROF_RECORD_LIKELY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/library/find.h"

/* All zeroes: not started. */
struct likely {
	pthread_t thread;
	bool running;
	bool late;   /* it was given up */
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

/* Readable once likely__finish() would not wait; -1 if it never waits. */
int likely__done_fd(const struct likely *l);

/* True if rustup is asked, which downloads toolchains, and must not be ended meanwhile. */
static inline bool likely__may_download(const struct likely *l)
{
	return l->running && atomic_load(&l->asked.rustup);
}

/* If the search still runs, end its rustc and all processes that this rustc has started. */
void likely__give_up(struct likely *l);

/*
 * Wait for the result: 0 and the path, which `l` owns, or an error of plan_find__of_toolchain();
 * -ETIME: it was given up.
 */
int likely__finish(struct likely *l, const char **path);

/*
 * The parts of a plan (PLAN_PART_BITs) that the command, or RUSTFLAGS and the like, ask for. Cargo
 * asks for incremental compilation by itself with its profiles dev and test.
 */
uint32_t likely_parts(char *const argv[]);

/* Gives up a search that still runs. */
void likely__clear(struct likely *l);

#endif /* QPROF_RECORD_LIKELY_H */
