/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The probes of one library by perf events, one for each site, for kernels before 6.6.
 *
 * The kernel is slow with them. Attaching one while a process maps the library can take 40 ms, and
 * removing one takes 40 to 140 ms, under one lock for the whole machine. So probes are attached in
 * the background once the recording has begun, and removed by a process of their own
 * (kernel_attach.c), which gives way to recordings that attach.
 */
#ifndef QPROF_CAPTURE_PERF_PROBES_H
#define QPROF_CAPTURE_PERF_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/attach_set.h"

struct bpf_program;
struct perf_probes;

struct perf_progress {
	uint32_t n_sites;
	uint32_t n_attached;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	uint64_t done_ns;  /* 0: attaching goes on */
	int err;	   /* the error that ended it, or 0 */
};

/*
 * Attach the sites of a set to `progs`, indexed by role, from the last role to the first. Roles
 * without a program are left out. With `background` a thread does so, and this returns at once;
 * `progs` must stay. Otherwise -EINTR if a signal that ends a recording is pending. Returns a
 * negative errno without printing; *out may be set even then, as probes may be attached.
 */
int perf_probes__attach(struct bpf_program *const progs[ATTACH_ROLES], const struct attach_set *set,
			bool background, struct perf_probes **out);

void perf_probes__progress(struct perf_probes *p, struct perf_progress *out);

/* Stop attaching or removing, after the current site. Attached probes stay. */
void perf_probes__stop(struct perf_probes *p);

/*
 * Begin to remove the probes of a library whose bytes have changed, in the background. This takes
 * no turns and no pauses, but the kernel still takes 40 to 140 ms for each probe.
 */
void perf_probes__begin_free(struct perf_probes *p);

/* True once perf_probes__begin_free() has removed all: then perf_probes__free() is fast. */
bool perf_probes__are_gone(struct perf_probes *p);

/* Remove the probes: takes up to a second for each. */
void perf_probes__free(struct perf_probes *p);

/* Free the memory only: another process holds the probes as well, and removes them. */
void perf_probes__abandon(struct perf_probes *p);

#endif /* QPROF_CAPTURE_PERF_PROBES_H */
