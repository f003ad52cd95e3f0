/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Receives the records of a session: an interface for the session's owner. */
#ifndef QPROF_CAPTURE_SESSION_SINK_H
#define QPROF_CAPTURE_SESSION_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/look.h"
#include "plan/mine/llvm.h"
#include "plan/plan.h"

/* Every function returns 0 or a negative errno, which ends the call that caused it. */
struct session_sink {
	void *ctx;
	/* A library was attached; its records carry `lib`. Comes before any of them. */
	int (*library)(void *ctx, uint8_t lib, const struct plan *plan);
	/*
	 * May be NULL. After `library`: by number in its plan, the queries whose executions are
	 * recorded, and the guards whose intervals are.
	 */
	void (*recorded)(void *ctx, uint8_t lib, const bool *queries, const bool *guards);
	/* May be NULL. A process was running already when it was first followed. */
	int (*running)(void *ctx, pid_t pid, pid_t parent, uint64_t now_ns,
		       const struct arguments *args);
	/* A wire record has arrived. */
	int (*record)(void *ctx, const void *record, size_t size);
	/*
	 * May be NULL. The compiler that `pid` executed began before the probes of its library were
	 * there: its first queries may be missing. Comes after the record of that exec.
	 */
	int (*late)(void *ctx, pid_t pid);
	/* May be NULL. A compiler waited so long for its probes, and runs now. */
	void (*waited)(void *ctx, pid_t pid, uint64_t ns);
	/* May be NULL. The working directory of a process, after `running` or the record of its
	 * exec. */
	int (*cwd)(void *ctx, pid_t pid, const char *cwd);
	/*
	 * May be NULL. With samples: wire_place() has this number for this file. Comes before any
	 * sample with it. A sink that keeps the file takes a reference.
	 */
	int (*file)(void *ctx, uint32_t number, struct library_file *file);
	/*
	 * May be NULL. Shows the passes of LLVM in that file, after `file`, and before any sample
	 * with a pass of it. A sink that keeps it takes a reference.
	 */
	int (*llvm)(void *ctx, uint32_t number, struct llvm_plan *plan);
	/*
	 * May be NULL. Why samples do not show what LLVM does in a process: text for a line. After
	 * the record of its exec, and at the latest with its first sample after that is known.
	 */
	int (*no_llvm)(void *ctx, pid_t pid, const char *why);
};

/*
 * Pass on the record of an exec, with all arguments of a compiler: a record of the kernel half has
 * only the first ones, and no argument files. Where they cannot be read, it is truncated.
 */
int session_sink__exec(const struct session_sink *sink, struct look *look,
		       const struct wire_exec *e);

/* Call sink->cwd with the working directory of a process that the sink knows. */
int session_sink__cwd(const struct session_sink *sink, pid_t pid);

/* Call sink->waited, if there is one. */
static inline void session_sink__waited(const struct session_sink *sink, pid_t pid, uint64_t ns)
{
	if (sink->waited)
		sink->waited(sink->ctx, pid, ns);
}

#endif /* QPROF_CAPTURE_SESSION_SINK_H */
