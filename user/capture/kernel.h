/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The user half of bpf/: loads it, attaches plans to it, drains its ring buffer, reads its
 * counters. Knows nothing of tracks or files.
 */
#ifndef QPROF_CAPTURE_KERNEL_H
#define QPROF_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/filter.h"
#include "plan/hits.h"
#include "plan/plan.h"
#include "qprof/wire.h"

enum kernel_attach {
	KERNEL_ATTACH_AUTO, /* uprobe_multi links where the kernel has them (6.6), else perf events
			     */
	KERNEL_ATTACH_MULTI,
	KERNEL_ATTACH_PERF,
};

struct kernel_options {
	enum kernel_attach attach;
	size_t ring_bytes; /* a power of two, at least a page */
	bool callers;	   /* probe the requests too, and tell who made them */
	bool governed;	   /* with uprobe_multi only: queries may be detached one by one */
	/* What will be asked for, at most: programs for nothing else are loaded. NULL: everything
	 * but hits. */
	const struct filter *filter;
	bool hits;    /* be ready for kernel__attach_hits(), whatever the filter */
	bool off_cpu; /* tell when threads that have hit a probe are off their CPU */
	/* Only kernel__show_open() is wanted: intervals that end are not told. */
	bool only_open;
};

struct kernel;

/*
 * Load the programs and start following processes; nothing is counted before kernel__enable().
 * Prints one line on failure: -EPERM (names the missing capability), -ENOENT (no BTF), -ENOSYS
 * (the kernel cannot do what was asked), or what the kernel said.
 */
int kernel__open(const struct kernel_options *opt, struct kernel **out);

/*
 * Attach the sites of a plan that are needed for what `filter` asks for, no more than the kernel
 * was opened for; NULL: everything it was opened for. The
 * records of its queries carry `*lib`. -ENOSPC past WIRE_MAX_LIBS libraries. Prints one line on
 * failure. Two threads may be at it at a time.
 */
int kernel__attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		   uint8_t *lib);

/*
 * Attach to where the queries of library `lib`, attached before with `plan`, hit their caches.
 * Only if the kernel was opened for them. Prints one line on failure.
 */
int kernel__attach_hits(struct kernel *k, uint8_t lib, const struct plan *plan,
			const struct plan_hits *hits);

/*
 * Take back kernel__attach(), and what was attached since; its number stays used. Perf-event probes
 * stay until kernel__free(): they would take minutes.
 */
void kernel__detach(struct kernel *k, uint8_t lib);

/*
 * With `governed`: the units of library `lib`, the kernel's; NULL once it was detached. None of
 * them is attached at first.
 */
struct units;
struct units *kernel__units(struct kernel *k, uint8_t lib);

/* With `governed`: sites of library `lib` that are attached. */
uint32_t kernel__sites(const struct kernel *k, uint8_t lib);

/* With `governed`: from now on starts of this query are counted, or recorded again. */
void kernel__count_only(struct kernel *k, uint8_t lib, uint32_t query, bool counted);

/*
 * With `governed`: what of this query was recorded as begun up to now may miss its end. If its
 * starts were told to count before, that is all there will be.
 */
void kernel__lapse(struct kernel *k, uint8_t lib, uint32_t query);

/* Probe hits in followed processes so far; with `governed`, but for a few of each thread. */
uint64_t kernel__hits(const struct kernel *k);

/* Follow a process, and the children it forks from now on. */
int kernel__follow(struct kernel *k, pid_t pid);
/* Take back kernel__follow(), for a process that turned out to have exited before. */
void kernel__unfollow(struct kernel *k, pid_t pid);
bool kernel__follows(const struct kernel *k, pid_t pid);
/* True if any process is: the kernel half forgets each one as it exits. */
bool kernel__follows_any(const struct kernel *k);

/* Send no intervals that have this label any more, which is not asked for. */
int kernel__hide_label(struct kernel *k, const struct wire_label *r);

/* Start or stop counting, at once for all probes. */
void kernel__enable(struct kernel *k, bool on);

/* Send off, as WIRE_SPAN_OPEN, what is on the threads' stacks. Call with counting stopped. -EBUSY:
 * a program of ours did not end, and what its thread has on its stack is missing. */
int kernel__flush_open(struct kernel *k);

/*
 * Send what thread `tid` is in at this moment, without ending it: WIRE_OPEN_FRAMEs, the outermost
 * first, and then one WIRE_OPEN_STACK; none if there is no such thread, or no room. They may hide
 * for a moment behind a record that is still being written. Only if the kernel was opened for it.
 */
int kernel__show_open(struct kernel *k, pid_t tid);

typedef int (*kernel_record_fn)(void *ctx, const void *record, size_t size);

/* A file descriptor that polls readable when many records wait. */
int kernel__ring_fd(const struct kernel *k);

/*
 * Hand over all records that wait now, and not for ever what comes in meanwhile. Stops at, and
 * returns, fn's first negative errno.
 */
int kernel__drain(struct kernel *k, kernel_record_fn fn, void *ctx);

/* Sums over the CPUs. */
int kernel__counters(const struct kernel *k, uint64_t counters[WIRE_COUNTER_MAX]);

/* Forget what was counted so far. Only while nothing counts. */
int kernel__reset_counters(struct kernel *k);

/* "uprobe_multi" or "perf events". */
const char *kernel__attach_name(const struct kernel *k);

/*
 * Begin to detach, where that waits for grace periods of the kernel; kernel__free() waits for its
 * end. Nothing is recorded any more.
 */
void kernel__begin_free(struct kernel *k);

/*
 * Detaches everything. Perf-event probes take the kernel up to a second each to remove, so a
 * child of ours does that in the background, where nobody waits.
 */
void kernel__free(struct kernel *k);
DEFINE_CLEANUP(struct kernel, kernel__free)
#define _kernel_ __cleanup(kernel__free_p)

#endif /* QPROF_CAPTURE_KERNEL_H */
