/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds out what the kernel permits by trying it: with small programs first, and then with the
 * steps of a recording. Everything is undone before the call returns.
 */
#ifndef QPROF_DOCTOR_TRIALS_H
#define QPROF_DOCTOR_TRIALS_H

#include "capture/perf_refusal.h"
#include "capture/probe_cost.h"

/* Each int is 0 or a negative errno. */
struct doctor_trials {
	int load;	  /* a program of two instructions */
	int ring;	  /* a ring buffer */
	int tracepoint;	  /* a raw tracepoint */
	int typed;	  /* the same with BTF (tp_btf) */
	int uprobe_multi; /* a uprobe_multi link to a function of ours */
	int perf_uprobe;  /* a perf-event uprobe on it, with a program */
	int mappings;	  /* the mapping records by which unexpected compilers are found */
	struct perf_refusal no_mappings; /* why they are missing */
	bool bpf_filtered;		 /* a filter stops bpf(2) before the kernel */
	/* Reading a process of another user, as --pid does; -ESRCH: there is none. */
	int others;
	/* The whole kernel half, attached as in a recording. */
	int record;
	char why[1024];	 /* the error line of `record`, or "" */
	char attach[32]; /* the attach method that was used, "" if it failed */
	struct probe_costs costs;
	/* The same with what takes samples (--sample, --memory, --off-cpu-stacks). */
	int samples;
	char samples_why[1024];		/* the error line of loading it, or "" */
	struct perf_refusal no_samples; /* why the kernel refuses its perf events, or all zeroes */
};

/* Prints nothing; failures are in `t`. */
void trials__run(struct doctor_trials *t);

#endif /* QPROF_DOCTOR_TRIALS_H */
