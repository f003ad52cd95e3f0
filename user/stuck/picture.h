/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What running compilers are doing at one moment: what `qprof-bpf stuck` shows. */
#ifndef QPROF_STUCK_PICTURE_H
#define QPROF_STUCK_PICTURE_H

#include "stuck/merge.h"
#include "stuck/others.h"
#include "stuck/tasks.h"

/* Innermost functions of a thread that are named. */
#define PICTURE_FUNCTIONS 64

struct picture_thread {
	struct task task;
	/* Since when it is off the CPU, if that was seen; else 0. */
	uint64_t off_since_ns;
	struct stuck_rows rows;
	bool torn;	/* its queries changed while they were read */
	bool cut;	/* what it entered last did not all fit */
	bool preempted; /* off the CPU, though it could have gone on */
	/* Of its stack. */
	int err;	     /* why it could not be read, or 0 */
	bool whole;	     /* it was read to its beginning */
	uint64_t stopped_ns; /* the thread was stopped so long for it */
	uint32_t n_calls;
	char **functions; /* of the innermost calls, for people; NULL: not known */
	uint32_t n_functions;
};

struct picture_process {
	pid_t pid;
	char *crate;   /* or NULL */
	char *command; /* or NULL */
	uint64_t age_ns;
	struct picture_thread *threads;
	uint32_t n_threads;
};

struct picture {
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t watched_ns; /* what was entered before that many ns ago was not seen */
	struct picture_process *processes;
	uint32_t n, capacity;
	/* What else runs of these builds, parents before what they started. */
	struct other *others;
	uint32_t n_others, others_capacity;
};

void picture__clear(struct picture *p);
#define _picture_ __cleanup(picture__clear)

#endif /* QPROF_STUCK_PICTURE_H */
