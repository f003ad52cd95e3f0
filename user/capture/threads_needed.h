/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which compilers may run queries on several threads, so that they need ATTACH_THREADS: those with
 * -Zthreads on their command line, and those of which that cannot be known.
 */
#ifndef QPROF_CAPTURE_THREADS_NEEDED_H
#define QPROF_CAPTURE_THREADS_NEEDED_H

#include "capture/look.h"
#include "qprof/wire.h"

/* Of a process that runs. */
bool threads_needed_by(struct look *look, pid_t pid);

struct threads_needed;

/* `look` outlives it. NULL without memory. */
struct threads_needed *threads_needed__new(struct look *look);

/* A followed process has called execve. True: it is a compiler that asks, and has ended by now. */
bool threads_needed__exec(struct threads_needed *t, const struct wire_exec *e);

/* By the last execve of a process, of which only the beginning of a long command line is known. */
bool threads_needed__asked(const struct threads_needed *t, pid_t pid);

/* Of a process that uses a library. Of one that has ended, by its last execve. */
bool threads_needed__of(struct threads_needed *t, pid_t pid);

void threads_needed__free(struct threads_needed *t);

#endif /* QPROF_CAPTURE_THREADS_NEEDED_H */
