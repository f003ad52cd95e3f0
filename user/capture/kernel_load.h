/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loads the BPF programs into the kernel, and attaches the programs that follow processes. */
#ifndef QPROF_CAPTURE_KERNEL_LOAD_H
#define QPROF_CAPTURE_KERNEL_LOAD_H

#include <stdbool.h>

#include "capture/attach_set.h"
#include "capture/kernel_options.h"
#include "qprof.skel.h"

/* The kernel half as it was loaded. */
struct loaded {
	struct qprof_bpf *skel;
	/* The program for the sites of each role; NULL: such sites are not attached. */
	struct bpf_program *progs[ATTACH_ROLES];
	bool multi;    /* by uprobe_multi links; else by perf events */
	int unsampled; /* negative errno: samples that nobody asked for are not possible */
};

/*
 * To be called before the programs are opened, whose calls that may sleep are there for programs
 * that may sleep only. 0, or a negative errno.
 */
int programs__register(void);

/* 0, or a negative errno after one line. Then `l` is empty. */
int loaded__init(struct loaded *l, const struct kernel_options *opt);

/* Unload the programs. Their probes must be gone. */
void loaded__clear(struct loaded *l);

#endif /* QPROF_CAPTURE_KERNEL_LOAD_H */
