/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The parts of a thread's memory that a walk of its stack came to. They are copied when they are
 * first needed, wherever they are: a thread of rustc has more than one stack. Once the thread
 * continues, only what was copied can be read.
 *
 * A process can delay every read of its memory, so the child of capture/broker.h reads.
 */
#ifndef QPROF_STUCK_COPIED_H
#define QPROF_STUCK_COPIED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/broker.h"
#include "capture/compiler_jobs.h"

/* Of one thread. rustc's threads have stacks of 8 MiB, and the walk of one reads what it uses. */
#define COPIED_BYTES_MAX (32u << 20)
/* For all reads of one thread, which is stopped meanwhile. */
#define COPIED_NS 1000000000ull

/* A part, from any address on. */
struct copied_part {
	uint64_t addr;
	uint32_t size;
	uint8_t *bytes;
};

/* All zeroes is empty and closed. */
struct copied {
	struct broker *broker; /* NULL: closed */
	pid_t pid;
	struct copied_part *parts;
	uint32_t n, capacity;
	uint32_t last; /* the part that was read last */
	uint64_t bytes, ns;
};

/* Read a word, which may lie anywhere. False if that is not possible, or past a limit. */
bool copied__word(struct copied *c, uint64_t addr, uint64_t *word);

/* The thread is about to continue. */
void copied__close(struct copied *c);

void copied__clear(struct copied *c);
#define _copied_ __cleanup(copied__clear)

/*
 * The job of an execution whose body has the frame from `sp` up to `end`, where an ImplicitCtxt has
 * its number: `expected`, if it is there. Otherwise, as where the thread runs a part of another
 * one's query further in, the only job of `query` there. NULL: unknown.
 */
const struct compiler_job *copied__job(const struct compiler_jobs *jobs, struct copied *stack,
				       uint64_t sp, uint64_t end, uint32_t query,
				       uint64_t expected);

#endif /* QPROF_STUCK_COPIED_H */
