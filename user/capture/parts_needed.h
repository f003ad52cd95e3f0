/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which optional parts of a plan (enum plan_part) a compiler needs, by its command line: those for
 * threads with -Zthreads, those for incremental compilation with -C incremental or a dependency
 * graph, and both if the command line cannot be known. Sets of parts are PLAN_PART_BITs.
 */
#ifndef QPROF_CAPTURE_PARTS_NEEDED_H
#define QPROF_CAPTURE_PARTS_NEEDED_H

#include "capture/broker.h"
#include "plan/plan.h"
#include "qprof/wire.h"

/* The parts that a word of some command line, or of a variable such as RUSTFLAGS, asks for. */
uint32_t parts_asked_for(const char *text);

/* Of a process that runs. All if it cannot be read. */
uint32_t parts_needed_by(struct broker *broker, pid_t pid);

struct parts_needed;

/* `broker` outlives it. NULL without memory. */
struct parts_needed *parts_needed__new(struct broker *broker);

/*
 * A followed process has called execve. Returns what it asks for if it is a compiler that has ended
 * by now, else 0.
 */
uint32_t parts_needed__exec(struct parts_needed *p, const struct wire_exec *e);

/* The last execve of the process is known: it is or was a followed one. */
bool parts_needed__knows(const struct parts_needed *p, pid_t pid);

/*
 * By the last execve of a process, of which only the beginning of a long command line is known. All
 * parts if it is not known: its record may still be in the ring.
 */
uint32_t parts_needed__asked(const struct parts_needed *p, pid_t pid);

/*
 * Of a process that uses a library: by /proc, or by its last execve once it has ended. -EAGAIN:
 * neither shows it, and it may be all; the record of the execve may still be in the ring.
 */
int parts_needed__find(struct parts_needed *p, pid_t pid, uint32_t *parts);

void parts_needed__free(struct parts_needed *p);

#endif /* QPROF_CAPTURE_PARTS_NEEDED_H */
