/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the files of a session share: session.c, session_follow.c, session_arrive.c. */
#ifndef QPROF_CAPTURE_SESSION_STATE_H
#define QPROF_CAPTURE_SESSION_STATE_H

#include <pthread.h>

#include "capture/libraries.h"
#include "capture/mappings.h"
#include "capture/scope.h"
#include "capture/session.h"

struct arrival;

struct session {
	struct kernel *kernel;
	struct session_sink sink;
	const struct filter *filter; /* or NULL */
	struct budget *budget;	     /* or NULL */
	struct probe_costs costs;
	pthread_t measurer; /* of the costs: while it runs, others may attach, and no more */
	bool measuring;
	bool governed; /* there is a budget to keep */
	struct libraries *libs;
	struct mappings *mappings; /* NULL: the kernel does not tell */
	struct arrival *arrivals;  /* that wait to be let go; see session_arrive.c */
	uint32_t n_arrivals;
	uint32_t arrivals_capacity;
	bool following; /* somebody; what was mapped before is of no interest */
	struct {
		uint32_t n; /* processes */
		uint64_t sum_ns;
		uint64_t most_ns;
	} held;
	uint32_t n_missed;   /* compilers that were gone before they could be followed */
	pid_t missed_pid;    /* the last one */
	bool told_no_follow; /* that a process cannot be followed; once is enough */
	bool told_no_hide;   /* that a label cannot be hidden */
	struct scope *scope; /* whose compilers are followed, as they come; NULL: nobody's */
	int epoll;	     /* of all that session__drain() takes */
	int nice;	     /* ours, before we hurried */
	uint64_t started_ns; /* counting began then; 0 while it is stopped */
	uint32_t late_pid;   /* the last one that was warned of */
};

/* To be called before anything but kernel__attach() is asked of the kernel half. */
void session__end_measuring(struct session *s);

/* From now on it matters who maps a library. */
void session__begin_following(struct session *s);

/* Tell the sink of a process, which was told of before, what its working directory is. */
int session__tell_cwd(struct session *s, pid_t pid);

/* A followed process has executed something. */
int session__on_exec(struct session *s, const struct wire_exec *e);

/* Take what was mapped, and make those wait who have to. */
int session__take_arrivals(struct session *s);

/* Let those run on whose library is attached to by now, or never will be. */
int session__release_arrivals(struct session *s);

/* Let all run on, as late if their library is not attached to yet. */
int session__let_all_go(struct session *s);

/* Let all run on, and forget them. */
void session__drop_arrivals(struct session *s);

/* How long compilers had to wait, and how many are missing: tell a person. */
void session__tell_arrivals(const struct session *s);

#endif /* QPROF_CAPTURE_SESSION_STATE_H */
