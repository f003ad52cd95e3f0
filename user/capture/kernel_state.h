/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of kernel.h share: kernel_load.c, which gets the kernel half into the kernel;
 * kernel_attach.c, which puts its probes on libraries and takes them away; and kernel.c, which
 * tells it what to do and takes what it has to say.
 */
#ifndef QPROF_CAPTURE_KERNEL_STATE_H
#define QPROF_CAPTURE_KERNEL_STATE_H

#include "capture/kernel.h"
#include "capture/probes.h"
#include "capture/units.h"
#include "qprof.skel.h"

struct kernel {
	struct qprof_bpf *skel;
	struct ring_buffer *ring;
	struct bpf_program *progs[PROBES_ROLES];
	struct probes *libs[WIRE_MAX_LIBS];
	struct units *units[WIRE_MAX_LIBS];  /* if it is governed */
	uint32_t fixed_sites[WIRE_MAX_LIBS]; /* those of no unit */
	bool governed;
	unsigned int n_libs;
	bool multi;
	bool owned_elsewhere; /* a background child holds the perf events now */
	size_t ring_bytes;
	kernel_record_fn fn;
	void *ctx;
	size_t handed_over; /* bytes of the ring, in this drain */
};

/*
 * Choose the programs and how they are attached, load them, and attach those that follow processes.
 * ring_bytes and governed are set. 0, or a negative errno after one line.
 */
int kernel__load(struct kernel *k, const struct kernel_options *opt);

/* Take all probes away, or leave it to a child of ours that outlives us, where it takes long. */
void kernel__free_probes(struct kernel *k);

#endif /* QPROF_CAPTURE_KERNEL_STATE_H */
