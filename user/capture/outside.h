/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Records a command without the kernel half, and without any right: what the kernel lets a user
 * know of his own processes. Compilers are found below the command in /proc, and read from time to
 * time (outside_compiler.h). Nothing is stopped, traced or written to, so nothing can be left
 * behind.
 *
 * A process that ends between two looks is not seen, nor is the CPU time that a compiler takes
 * after the last one.
 */
#ifndef QPROF_CAPTURE_OUTSIDE_H
#define QPROF_CAPTURE_OUTSIDE_H

#include "capture/broker.h"
#include "capture/session_sink.h"

/* Looks a second, unless they would take more than 2 % of the time. */
#define OUTSIDE_HZ 100

struct outside;

/* `broker` and what the sink needs outlive it. 0 or a negative errno. */
int outside__new(struct broker *broker, const struct session_sink *sink, int nice,
		 struct outside **out);

/* Make or load the plan of a library, and tell the sink. Prints on failure. */
int outside__add_library(struct outside *o, struct library_file *file);

/*
 * Follow a process and all below it: one that waits to be released, or that runs already.
 * *compilers grows by those that run. -ESRCH.
 */
int outside__follow(struct outside *o, pid_t pid, bool runs, unsigned int *compilers);

/* From now on processes are looked at. 0 or a negative errno. */
int outside__start(struct outside *o);

/* Polls readable when it is time for the next look. */
int outside__fd(const struct outside *o);

/* Look, if it is time. 0 or an error of the sink. */
int outside__take(struct outside *o);

/* A last look. */
int outside__stop(struct outside *o);

bool outside__follows_any(const struct outside *o);
unsigned int outside__libraries(const struct outside *o);

/* CPU time that was read, of all processes that are followed or were. */
uint64_t outside__cpu_ns(const struct outside *o);

/* Compilers whose library could not be planned. */
uint32_t outside__missing(const struct outside *o);

void outside__free(struct outside *o);
DEFINE_CLEANUP(struct outside, outside__free)
#define _outside_ __cleanup(outside__free_p)

#endif /* QPROF_CAPTURE_OUTSIDE_H */
