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
#include "capture/compiler_jobs.h"
#include "stuck/snapshot.h"
#include "stuck/stopped.h"
#include "stuck/walk.h"
#include "capture/compiler_names.h"
#include "stuck/rows.h"

/* A process may execute another program at any moment, and that may be another user's. */
struct visit_program {
	uint64_t process_ns, execs; /* as in struct wire_open_stack; execs 0: unknown */
};

struct visit {
	/* The caller sets these before visit__begin(), ... */
	struct session *session;
	struct answers *answers; /* get what the session reports */
	struct broker *broker;
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
	struct compiler_jobs jobs;
	const char *keys_problem; /* why these are not known, or NULL */
};

/* Find out which program the process runs. 0, or an error of the session. */
int visit__begin(struct visit *v);

/*
 * Fill in a thread whose task is set. -ESRCH: it is gone, or runs another program; -EINTR as
 * watch__look(); or another negative errno.
 */
int visit__thread(struct visit *v, struct snapshot_thread *t);

/* The names of the items that the queries of a thread are about, from the compiler's memory. */

/* Rows from the innermost on that get a name: each takes some looks at the process. */
#define ITEMS_NAMED_MAX 64

struct item_names {
	struct compiler_memory memory;
	/* With memory.ctx: false if the process may have executed another program since. */
	bool (*runs_same)(void *ctx);
	const struct plan_layout *layout;
	uint64_t bias;	   /* of the library */
	uint64_t fs_base;  /* of the thread */
	const char *crate; /* the name of the crate, or NULL */
};

/*
 * Name the rows whose key is a definition of the crate. The thread may have gone on: if its context
 * or its program is not the same afterwards, nothing is named. 0 or -ENOMEM.
 */
int item_names__find(const struct item_names *names, struct stuck_rows *rows);

#endif /* QPROF_STUCK_VISIT_H */
