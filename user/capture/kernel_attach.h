/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel half as its files share it. kernel_attach.c has the libraries that it is attached to,
 * kernel_budget.c what a budget controls, kernel.c the rest. See kernel.h for the contracts.
 */
#ifndef QPROF_CAPTURE_KERNEL_ATTACH_H
#define QPROF_CAPTURE_KERNEL_ATTACH_H

#include "capture/kernel.h"
#include "capture/kernel_load.h"
#include "capture/links.h"

/* One number of a library. */
struct attachment {
	struct links *links;
	struct perf_probes *perf; /* in place of links */
	bool taken;		  /* two threads may try to take it */
	bool leaving;		  /* being detached; see kernel__begin_detach() */
	bool released;		  /* likewise, and given back when that is over */
};

struct kernel {
	struct loaded loaded;
	bool governed;	/* a budget attaches the governed sites */
	bool recording; /* compilers may wait for probes: perf events attach in the background */
	struct attachment libs[WIRE_MAX_LIBS];
	struct ring_buffer *ring;
	size_t ring_bytes;
	kernel_record_fn fn;
	void *ctx;
	size_t handed_over; /* bytes of the ring, in this drain */
};

/* Begin to detach all libraries, where that waits for grace periods of the kernel. */
void kernel__begin_detach_all(struct kernel *k);

/* Detach all. Where that takes long, a child process that outlives this one does it. */
void kernel__detach_all(struct kernel *k);

#endif /* QPROF_CAPTURE_KERNEL_ATTACH_H */
