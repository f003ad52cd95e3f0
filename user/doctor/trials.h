/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the kernel lets us do, found by doing it: small programs of our own, and then what a
 * recording does. Everything is undone before the call returns.
 */
#ifndef QPROF_DOCTOR_TRIALS_H
#define QPROF_DOCTOR_TRIALS_H

#include "capture/probe_cost.h"

/* Each is 0 or a negative errno. */
struct doctor_trials {
	int load;	  /* a program of two instructions */
	int ring;	  /* a ring buffer */
	int tracepoint;	  /* a raw tracepoint */
	int typed;	  /* the same with BTF (tp_btf) */
	int uprobe_multi; /* a uprobe_multi link to a function of ours */
	int perf_uprobe;  /* a perf-event uprobe on it, with a program */
	/* Looking into a process of another user, as --pid does; -ESRCH: there is none. */
	int others;
	/* The whole kernel half, attached as a recording attaches it. */
	int record;
	char why[1024];	 /* the error line of that, or "" */
	char attach[32]; /* the way of attaching that it used, "" if it failed */
	struct probe_costs costs;
};

/* Prints nothing: what failed is in `t`. */
void trials__run(struct doctor_trials *t);

#endif /* QPROF_DOCTOR_TRIALS_H */
