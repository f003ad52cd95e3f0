/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reports every process on the machine that maps a librustc_driver, as it happens. The kernel
 * records executable mappings for profilers (PERF_RECORD_MMAP2), whatever the program's name and
 * root directory are. Where the kernel refuses these records, execs.h looks at new programs.
 */
#ifndef QPROF_CAPTURE_MAPPINGS_H
#define QPROF_CAPTURE_MAPPINGS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "capture/execs.h"

struct broker;
struct mappings;

/* Needs CAP_BPF and CAP_PERFMON. 0 or a negative errno; prints nothing. */
int mappings__open(struct broker *broker, struct mappings **out);

/*
 * The negative errno with which the kernel refused records of mappings, so that new programs are
 * looked at; 0: it provides them. See perf_refusal.h.
 */
int mappings__refused(const struct mappings *m);

/* 0 if the kernel provides these records, or a negative errno. Nothing stays open. */
int mappings__try_rings(void);

/* Polls readable when something was mapped. */
int mappings__fd(const struct mappings *m);

/*
 * Pass the mappings since the last call to `fn`; those of different CPUs come in no order. The
 * segments of a library may be reported one by one.
 */
int mappings__read(struct mappings *m, mapped_fn fn, void *ctx);

/*
 * mappings__read() also calls `fn` for each mapping of another file, if the kernel provides records
 * of mappings.
 */
typedef void (*mappings_other_fn)(void *ctx, pid_t pid);
void mappings__set_other(struct mappings *m, mappings_other_fn fn, void *ctx);

/* Drop all mappings up to now, and do not count the lost ones among them. */
void mappings__forget(struct mappings *m);

/* Records that were lost for lack of room: mappings may be missing. */
uint64_t mappings__lost(const struct mappings *m);

/* Programs that were started and cannot be read, where the kernel provides no records; else 0. */
uint64_t mappings__closed(const struct mappings *m);

void mappings__free(struct mappings *m);
DEFINE_CLEANUP(struct mappings, mappings__free)
#define _mappings_ __cleanup(mappings__free_p)

#endif /* QPROF_CAPTURE_MAPPINGS_H */
