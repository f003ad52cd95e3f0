/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A snapshot of the running compilers, as `qprof-bpf stuck` shows it. */
#ifndef QPROF_STUCK_SNAPSHOT_H
#define QPROF_STUCK_SNAPSHOT_H

#include "stuck/others.h"
#include "stuck/rows.h"
#include "stuck/tasks.h"

/* The number of innermost functions of a thread that get a name. */
#define SNAPSHOT_FUNCTIONS 64

struct snapshot_thread {
	struct task task;
	/* The time since when the thread is off the CPU, if that was recorded; else 0. */
	uint64_t off_since_ns;
	struct stuck_rows rows;
	uint32_t n_begun; /* of these, recorded from now on although they began before */
	bool torn;	  /* its queries changed while they were read */
	bool cut;	  /* its latest entries did not all fit */
	bool preempted;	  /* off the CPU although it could run */
	/* The stack. */
	int err;	     /* why it could not be read, or 0 */
	bool whole;	     /* it was read to its first call */
	uint64_t stopped_ns; /* the time that the thread was stopped for the read */
	uint32_t n_calls;
	char **functions; /* readable names of the innermost calls; NULL: unknown */
	uint32_t n_functions;
};

struct snapshot_process {
	pid_t pid;
	char *crate; /* these three as in struct command, or NULL */
	char *crate_type;
	char *command;
	uint64_t age_ns;
	struct snapshot_thread *threads;
	uint32_t n_threads;
};

struct snapshot {
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t watched_ns; /* recorded are only entries of the last watched_ns */
	struct snapshot_process *processes;
	uint32_t n, capacity;
	/* The other processes of these builds, parents before children. */
	struct other *others;
	uint32_t n_others, others_capacity;
};

void snapshot__clear(struct snapshot *p);
#define _snapshot_ __cleanup(snapshot__clear)

#endif /* QPROF_STUCK_SNAPSHOT_H */
