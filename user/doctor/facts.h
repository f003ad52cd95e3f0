/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads facts about the kernel and this process from /proc and /sys. Tries and judges nothing. */
#ifndef QPROF_DOCTOR_FACTS_H
#define QPROF_DOCTOR_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/perf_refusal.h"
#include "capture/probe_cost.h"

#define FACTS_UNKNOWN INT_MIN

struct doctor_facts {
	char release[64]; /* "" if unknown, like the other texts */
	bool btf;	  /* /sys/kernel/btf/vmlinux can be read */
	bool first_pid_ns;
	bool first_user_ns;	 /* also true if unknown */
	int perf_event_paranoid; /* FACTS_UNKNOWN if unknown, like the other numbers */
	int unprivileged_bpf_disabled;
	char lockdown[32];     /* the mode in force: "none", "integrity", "confidentiality" */
	char lsm[128];	       /* "capability,apparmor,..." */
	uint64_t capabilities; /* effective, a mask */
	bool no_new_privs;
	bool file_has_caps;  /* our executable has file capabilities ... */
	bool file_is_nosuid; /* ... and is where the kernel ignores them */
	char exe[PATH_MAX];  /* of our executable; "" if unknown */
};

/* `root` is put before every path; "" except in tests. */
void facts__read(const char *root, struct doctor_facts *facts);

/* Finds recordings that are loaded in the kernel: running ones, and remains of ended ones. */

#define CAPTURES_MOST 64

struct other_recordings {
	int err;       /* why they could not be found; nothing else is valid then */
	uint32_t n;    /* recordings whose programs are loaded */
	uint32_t held; /* of these, still held by a process; the kernel frees the others */
	pid_t pid;     /* one of these processes */
};

/* Covers all users. Call it before loading BPF programs. `err` is -EPERM without CAP_SYS_ADMIN. */
void other_recordings__find(struct other_recordings *c);

/* Find the processes that hold programs with these ids open, by `root`/proc; "" except in tests. */
void other_recordings__find_holders(const char *root, const uint32_t *ids, uint32_t n,
				    struct other_recordings *c);

/*
 * Finds out what the kernel permits by trying it: with small programs first, and then with the
 * steps of a recording. Everything is undone before the call returns.
 */

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

#endif /* QPROF_DOCTOR_FACTS_H */
