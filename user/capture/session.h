/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One capture: which processes, which libraries, and the stream of what they do. Joins the plan
 * and the kernel half; what becomes of the records is the sink's business.
 */
#ifndef QPROF_CAPTURE_SESSION_H
#define QPROF_CAPTURE_SESSION_H

#include "capture/budget.h"
#include "capture/kernel.h"
#include "capture/probe_cost.h"

struct session;

/* Every function returns 0 or a negative errno, which ends the call that led to it. */
struct session_sink {
	void *ctx;
	/* A library was attached; its records carry `lib`. Comes before any of them. */
	int (*library)(void *ctx, uint8_t lib, const struct plan *plan);
	/* A process was running already when it was first followed. */
	int (*running)(void *ctx, pid_t pid, pid_t parent, uint64_t now_ns, const char *args,
		       size_t len);
	/* A wire record. */
	int (*record)(void *ctx, const void *record, size_t size);
	/*
	 * The compiler that `pid` executed began before the probes of its library were there: its
	 * first queries may be missing. Comes after the record of that exec.
	 */
	int (*late)(void *ctx, pid_t pid);
	/* May be NULL. The working directory of a process, after `running` or the record of its
	 * exec. */
	int (*cwd)(void *ctx, pid_t pid, const char *cwd);
	/* With a budget: as in struct budget_sink. */
	int (*decision)(void *ctx, const struct session_decision *d);
	int (*estimated)(void *ctx, pid_t pid, uint8_t lib, uint32_t query, uint64_t events,
			 uint64_t sum_ns);
};

/*
 * What opt->filter asks for is recorded; it outlives the session. opt->governed is the session's to
 * set: it is if `budget_ppm`, which the probes may take of the compilers' CPU time, is not 0.
 */
int session__open(const struct kernel_options *opt, const struct session_sink *sink,
		  uint64_t budget_ppm, struct session **out);

/*
 * Attach to the librustc_driver at `path`, unless that was done before. Prints on failure; one
 * that failed is not tried again, and the same error is returned without a word.
 */
int session__add_library(struct session *s, const char *path);

/* Follow a process that is about to exec: what it becomes is seen from its first instruction. */
int session__follow_new(struct session *s, pid_t pid);

/*
 * Follow a running process: from now on its children; if it is no compiler itself, its running
 * descendants too. Attaches to the libraries they use. -ESRCH if it is gone or has exited without
 * having been waited for (nothing is printed); *compilers counts the compilers found running.
 */
int session__follow_running(struct session *s, pid_t pid, unsigned int *compilers);

/*
 * Follow every compiler on the machine, or those of a control group (a directory; NULL: all): those
 * that run and those to come. *compilers counts those found running. Prints on failure.
 */
int session__follow_all(struct session *s, const char *cgroup, unsigned int *compilers);

/*
 * What the probes cost here, measured while the first library was looked at; waits for that. All
 * zeroes: not measured.
 */
const struct probe_costs *session__costs(struct session *s);

/* Libraries attached to. */
unsigned int session__libraries(const struct session *s);

void session__start(struct session *s);
/* Stop counting, send off what still runs, drain. The probes stay until session__free(). */
int session__stop(struct session *s);

int session__drain(struct session *s);
/*
 * To be called before we stop for a time that nobody knows: whoever waits for probes runs on
 * without, and is late.
 */
int session__suspend(struct session *s);
/* As kernel__show_open(): the records come with the next session__drain(). */
int session__show_open(struct session *s, pid_t tid);
/* With a budget, to be called every BUDGET_TICK_MS, after session__drain(). */
int session__tick(struct session *s);
/* Polls readable when there is much for session__drain() to do, or something urgent. */
int session__fd(const struct session *s);
int session__counters(const struct session *s, uint64_t counters[WIRE_COUNTER_MAX]);
bool session__follows(struct session *s, pid_t pid);
bool session__follows_any(struct session *s);

/* To be called after session__stop(), if there is something to do before session__free(). */
void session__begin_free(struct session *s);
void session__free(struct session *s);
DEFINE_CLEANUP(struct session, session__free)
#define _session_ __cleanup(session__free_p)

#endif /* QPROF_CAPTURE_SESSION_H */
