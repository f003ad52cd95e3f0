/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names of definitions, and numbers of results, of compilers that still run. The kernel half notes
 * where their query contexts are, and removes the note before a context is dropped: what was read
 * while the note stayed the same was there.
 */
#ifndef QPROF_CAPTURE_RUNNING_NAMES_H
#define QPROF_CAPTURE_RUNNING_NAMES_H

#include "capture/compiler_names.h"
#include "capture/kernel.h"

/*
 * Records that wait for the proof that they are right: each its size, and its bytes, aligned. The
 * owner frees `bytes`. Adding is a compiler_names_fn; -E2BIG past RUNNING_NAMES_BYTES.
 */
struct kept_records {
	uint8_t *bytes;
	size_t n, room;
	uint64_t until_ns; /* running_names.c's */
};

int kept_records__add(void *kept, const void *record, size_t size);
int kept_records__pass_on(const struct kept_records *kept, record_fn take, void *ctx);

struct running_names;

/* Both outlive it. 0 or -ENOMEM. */
int running_names__new(const struct kernel *k, struct broker *broker, struct running_names **out);

/* The plan of library `lib`, of which what is needed is copied. */
void running_names__set_library(struct running_names *r, uint8_t lib, const struct plan *plan);

/*
 * The path of definition `index` of the crate that a process compiles, whose name is `crate`, in
 * *out, which the caller frees. -ENOENT: there is none, or it is not known any more. -ETIME: the
 * process delays those who read its memory. Each read may be quick enough, but there are hundreds.
 */
#define RUNNING_NAMES_PATH_NS 20000000ull
int running_names__path(struct running_names *r, pid_t pid, const char *crate, uint32_t index,
			char **out);

/*
 * Pass numbers of results and copies of all definitions of all compilers to `record`, as far as
 * they can be read within RUNNING_NAMES_NS and RUNNING_NAMES_BYTES for each. Call it while the
 * kernel half counts. 0, or an error of `record`.
 */
#define RUNNING_NAMES_NS    1000000000ull
#define RUNNING_NAMES_BYTES (96u << 20)
int running_names__copy(struct running_names *r, record_fn take, void *ctx);

/*
 * Begin a round in which the results of each compiler are read once, while it runs on. False: there
 * was no compiler yet, or the last round is not over, or began less than RUNNING_NAMES_ROUND_NS
 * ago. What the kernel half has
 * sent so far is to be drained before the first running_names__count(): it is about what ran before
 * these compilers, under their pids.
 */
#define RUNNING_NAMES_ROUND_NS 900000000ull
bool running_names__begin_round(struct running_names *r);

/*
 * Pass the numbers of results of the round's next compilers to `record`, for about
 * RUNNING_NAMES_COUNT_NS, as the ring is not drained meanwhile. 1: the round is over; 0; or an
 * error of `record`.
 */
#define RUNNING_NAMES_COUNT_NS 10000000ull
int running_names__count(struct running_names *r, record_fn take, void *ctx);

void running_names__free(struct running_names *r);

#endif /* QPROF_CAPTURE_RUNNING_NAMES_H */
