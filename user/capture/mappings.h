/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Who maps a librustc_driver, anywhere on the machine, as it happens: the kernel tells of every
 * executable mapping by the records that it makes for profilers (PERF_RECORD_MMAP2), whatever the
 * program is called and whatever root it has.
 */
#ifndef QPROF_CAPTURE_MAPPINGS_H
#define QPROF_CAPTURE_MAPPINGS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct mappings;

/* Needs CAP_PERFMON, or a permissive perf_event_paranoid: -EACCES, -EPERM. Prints nothing. */
int mappings__open(struct mappings **out);

/* Polls readable when something was mapped. */
int mappings__fd(const struct mappings *m);

/*
 * `library` is its path as the process had it, `time_ns` CLOCK_MONOTONIC. 0, or a negative errno,
 * which ends the reading.
 */
typedef int (*mappings_fn)(void *ctx, pid_t pid, const char *library, uint64_t time_ns);

/*
 * Tell of what was mapped since the last call, of different CPUs in no order. A library's segments
 * may be told of one by one.
 */
int mappings__read(struct mappings *m, mappings_fn fn, void *ctx);

/* What was mapped up to now, told or lost, is of no interest. */
void mappings__forget(struct mappings *m);

/* Records that there was no room for: some mapping may have been missed. */
uint64_t mappings__lost(const struct mappings *m);

void mappings__free(struct mappings *m);
DEFINE_CLEANUP(struct mappings, mappings__free)
#define _mappings_ __cleanup(mappings__free_p)

#endif /* QPROF_CAPTURE_MAPPINGS_H */
