/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the processes that map a librustc_driver where perf events do not report mappings: a BPF
 * program reports every exec, and /proc/PID/maps of each new program is read again and again while
 * the program is young.
 *
 * A mapping is found up to 20 ms late. Without CAP_SYS_PTRACE, processes of other users cannot be
 * read; of these, only processes with a compiler's name are reported.
 */
#ifndef QPROF_CAPTURE_EXECS_H
#define QPROF_CAPTURE_EXECS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct execs;
struct broker;

/* Needs CAP_BPF and CAP_PERFMON. `broker` must outlive it. 0 or a negative errno; prints nothing.
 */
int execs__open(struct broker *broker, struct execs **out);

/* Polls readable when execs__read() has something to do. */
int execs__fd(const struct execs *e);

/* A library that a process has mapped. */
struct mapped_library {
	const char *path; /* the path in the process' view, or a word for an unknown path */
	uint64_t time_ns; /* CLOCK_MONOTONIC: of the mapping, or of the exec before it */
	dev_t dev;	  /* of the inode, as the kernel recorded it; 0: unknown */
	ino_t ino;
};

/* 0, or a negative errno, which ends the reading. */
typedef int (*mapped_fn)(void *ctx, pid_t pid, const struct mapped_library *library);

/*
 * Call `fn` for the libraries that were found since the last call, once for each exec. The time is
 * the exec's, and the inode is not known.
 */
int execs__read(struct execs *e, mapped_fn fn, void *ctx);

/* Execs that were not reported, and programs that exited before they could be looked at. */
uint64_t execs__lost(const struct execs *e);

/* Programs that cannot be read: their mappings are unknown. */
uint64_t execs__closed(const struct execs *e);

/* For tests: the time until the next look at a program that started `age_ns` ago; 0: none. */
uint64_t execs_pause_ns(uint64_t age_ns);

void execs__free(struct execs *e);
DEFINE_CLEANUP(struct execs, execs__free)
#define _execs_ __cleanup(execs__free_p)

#endif /* QPROF_CAPTURE_EXECS_H */
