/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The compiler that a command will most likely run, found by a thread: asking rustc for its sysroot
 * takes about as long as loading the BPF programs.
 */
#ifndef QPROF_RECORD_TOOLCHAIN_GUESS_H
#define QPROF_RECORD_TOOLCHAIN_GUESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/library/find.h"

/* All zeroes: not started. */
struct toolchain_guess {
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
 * outlive the call of toolchain_guess__finish().
 */
void toolchain_guess__start(struct toolchain_guess *l, char *const argv[]);

/* Readable once toolchain_guess__finish() would not wait; -1 if it never waits. */
int toolchain_guess__done_fd(const struct toolchain_guess *l);

/* True if rustup is asked, which downloads toolchains, and must not be ended meanwhile. */
static inline bool toolchain_guess__may_download(const struct toolchain_guess *l)
{
	return l->running && atomic_load(&l->asked.rustup);
}

/* If the search still runs, end its rustc and all processes that this rustc has started. */
void toolchain_guess__give_up(struct toolchain_guess *l);

/*
 * Wait for the result: 0 and the path, which `l` owns, or an error of plan_find__of_toolchain();
 * -ETIME: it was given up.
 */
int toolchain_guess__finish(struct toolchain_guess *l, const char **path);

/*
 * The parts of a plan (PLAN_PART_BITs) that the command, or RUSTFLAGS and the like, ask for. Cargo
 * asks for incremental compilation by itself with its profiles dev and test.
 */
uint32_t toolchain_guess_parts(char *const argv[]);

/* Gives up a search that still runs. */
void toolchain_guess__clear(struct toolchain_guess *l);

#endif /* QPROF_RECORD_TOOLCHAIN_GUESS_H */
