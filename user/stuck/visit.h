/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A look at the threads of one process, one after the other: each is stopped for a moment, and its
 * stack is joined with the intervals whose entries the kernel half has recorded.
 */
#ifndef QPROF_STUCK_VISIT_H
#define QPROF_STUCK_VISIT_H

#include "capture/session.h"
#include "stuck/answers.h"
#include "stuck/copied.h"
#include "stuck/snapshot.h"
#include "stuck/stopped.h"
#include "stuck/walk.h"

/* A process may execute another program at any moment, and that may be another user's. */
struct visit_program {
	uint64_t process_ns, execs; /* as in struct wire_open_stack; execs 0: unknown */
};

struct visit {
	/* The caller sets these before visit__begin(), ... */
	struct session *session;
	struct answers *answers; /* get what the session reports */
	struct look *look;
	pid_t pid;
	uint64_t begun_ns; /* not 0: what threads are in is recorded, as begun before then */
	/* ... and these before visit__thread(). */
	const struct compiler *compiler; /* NULL: the process is none */
	int lib;			 /* its number */
	struct walker *walker;		 /* NULL: the mappings of the process are not readable */
	const char *crate;		 /* of the process, or NULL */
	/* The rest is the visit's own. */
	struct visit_program program; /* whose mappings the walker has */
	uint64_t reads_ns;	      /* that reads of the process's memory have taken */
	/* Of the thread. */
	pid_t tid;
	struct snapshot_thread *thread;
	bool joined; /* its rows are found */
	struct stopped stopped;
	struct copied memory;
	struct calls calls;
};

/* Find out which program the process runs. 0, or an error of the session. */
int visit__begin(struct visit *v);

/*
 * Fill in a thread whose task is set. -ESRCH: it is gone, or runs another program; -EINTR as
 * watch__look(); or another negative errno.
 */
int visit__thread(struct visit *v, struct snapshot_thread *t);

#endif /* QPROF_STUCK_VISIT_H */
