/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A session: it follows processes, attaches to their libraries, and passes the records of the
 * kernel half to a sink.
 *
 * Six files show how this room works. Read them in this order; docs/capture.md has a line for most
 * of the others.
 * - session.c opens a session, and passes each record to those who need it.
 * - kernel.c reads the ring buffer and the counters of the kernel half.
 * - libraries.c has each library once: it orders the plan, attaches, and detaches.
 * - attach_set.c chooses the sites of a plan that are attached, and describes them.
 * - arrivals.c looks at each new compiler, and stops it if its probes are not there yet.
 * - broker.c has a child read what may block: files and memory of other processes.
 */
#ifndef QPROF_CAPTURE_SESSION_H
#define QPROF_CAPTURE_SESSION_H

#include "capture/kernel.h"
#include "capture/probe_cost.h"
#include "capture/session_sink.h"

struct session;

/*
 * opt->filter selects the intervals; it outlives the session. Where the kernel takes no samples,
 * and nobody asked for them, a line says what is missing.
 */
int session__open(const struct kernel_options *opt, const struct session_sink *sink,
		  struct session **out);

/*
 * Attach to the librustc_driver at `path`, unless that was done before. Prints on failure. A
 * library that failed is not tried again: the same error is returned, and nothing is printed.
 */
int session__add_library(struct session *s, const char *path);

/* Follow a process that is about to exec: its next program, from the first instruction. */
int session__follow_new(struct session *s, pid_t pid);

/*
 * Follow a running process: from now on its children; if it is no compiler itself, its running
 * descendants too. Attaches to the libraries they use. -ESRCH if it is gone or has exited without
 * having been waited for (nothing is printed); *compilers counts the compilers found running.
 */
int session__follow_running(struct session *s, pid_t pid, unsigned int *compilers);

/*
 * Follow every compiler of a control group (a directory; NULL: of the machine) that runs, or starts
 * later. *compilers counts the running ones. Prints on failure.
 */
int session__follow_all(struct session *s, const char *cgroup, unsigned int *compilers);

/* The probe costs of this machine. Waits until they are measured. All zeroes: not measured. */
const struct probe_costs *session__costs(struct session *s);

/* The number of libraries that are attached to. */
unsigned int session__libraries(const struct session *s);

/*
 * Record from now on. Samples that the kernel refuses cost a line if there are probes; without any,
 * nothing would be recorded: prints an error and returns it.
 */
int session__start(struct session *s);
/* Stop counting, send the open intervals, and drain. The probes stay until session__free(). */
int session__stop(struct session *s);

int session__drain(struct session *s);
/*
 * To be called before this process is stopped for an unknown time: the compilers that wait for
 * probes run on without them, and are late.
 */
int session__suspend(struct session *s);
/* As kernel__show_open(): the records come with the next session__drain(). */
int session__show_open(struct session *s, const uint32_t *tids, size_t n);
/* When the recording began: nothing that it reports is older. CLOCK_MONOTONIC; 0: not yet. */
uint64_t session__begun_ns(const struct session *s);
/* As kernel__put_begun(). */
int session__put_begun(struct session *s, pid_t tid, uint64_t start_ns,
		       const struct wire_begun *begun, uint32_t n);
/*
 * The path of the definition that a key (wire_key()) names, of a compiler that still runs and whose
 * crate has this name. The caller frees it. -ENOENT: it has none, or it is not known any more;
 * other errors.
 */
int session__name(struct session *s, pid_t pid, const char *crate, uint64_t key, char **out);
/*
 * Read how many results the compilers that run have so far, each at most about once a second, some
 * in each call. Their records go to the sink. 1: all were read once more; 0; or an error.
 */
int session__count(struct session *s);
/* Polls readable when there is much for session__drain() to do, or something urgent. */
int session__fd(const struct session *s);

/* To be called after a drain that session__fd() has asked for: pauses until `other` is readable, or
 * for some ms. */
void session__rest(const struct session *s, int other);
int session__counters(const struct session *s, uint64_t counters[WIRE_COUNTER_MAX]);

/* The cost of a recording, as far as the session knows it. */
struct session_cost {
	uint32_t breakpoints;	/* in each compiler */
	uint64_t breakpoint_ns; /* CPU time of a compiler for each; 0: not measured (yet) */
	uint64_t waited_ns;	/* wall time of compilers in ptrace stops, summed */
	uint32_t n_waited;
	uint64_t helpers_ns; /* CPU time of children of ours that still run */
	uint64_t tick_ns;    /* CPU time of a tick, without a program; 0: not measured (yet) */
	uint64_t seen_ns;    /* from outside: CPU time of all processes that was read; or 0 */
};

void session__cost(const struct session *s, struct session_cost *out);
bool session__follows_any(struct session *s);
/* Compilers that wait for probes. */
uint32_t session__waiting(const struct session *s);

/*
 * After session__stop(): print which compilers ran meanwhile and were not recorded. They are named
 * after what was recorded, and no table of a live view is on the terminal any more.
 */
void session__report_outsiders(const struct session *s);

/*
 * To be called after session__stop(), if there is something to do before session__free(): a child
 * process begins to detach, as compilers that nobody records hit the probes too. session__free()
 * waits for that if processes are followed that go on, for 3 s at most.
 */
void session__leave(struct session *s);
void session__free(struct session *s);
DEFINE_CLEANUP(struct session, session__free)
#define _session_ __cleanup(session__free_p)

#endif /* QPROF_CAPTURE_SESSION_H */
