/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A snapshot of the running compilers, as `qprof-bpf stuck` shows it.
 *
 * Six files show how this room works. Read them in this order.
 * - watch.c finds the processes below one, and adds each to a snapshot.
 * - visit.c looks at the threads of a compiler: it stops each, and joins what it finds.
 * - walk.c finds the calls that a stopped thread is in.
 * - answers.c keeps what a session reports: compilers, and what a thread has entered.
 * - rows.c joins what was entered with what the stack shows.
 * - copied.c finds which job a frame is of; capture/compiler_jobs.c reads all jobs that run.
 */
#ifndef QPROF_STUCK_SNAPSHOT_H
#define QPROF_STUCK_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stuck/llvm.h"
#include "stuck/rows.h"
#include "stuck/tasks.h"
#include "capture/broker.h"

/*
 * The processes of a build other than running compilers, read from /proc: linkers, build scripts
 * and their children, cargo itself, and a rustc that has not mapped its library yet. No probe sees
 * them.
 */

enum other_kind {
	OTHER_PROGRAM, /* an unknown program */
	OTHER_LINKER,
	OTHER_BUILD_SCRIPT,
	OTHER_COMPILER, /* its library is not mapped yet: it has not begun; or see `problem` */
};

struct other {
	pid_t pid;
	pid_t parent;
	enum other_kind kind;
	char *name;	  /* of the program */
	char *subject;	  /* package of a build script, crate of a compiler; or NULL */
	char *crate_type; /* of a compiler, or NULL */
	char *command;	  /* or NULL */
	uint64_t age_ns;
	uint64_t cpu_ns; /* of all its threads */
	char state; /* R if any thread is running; else of the first thread, as in /proc/PID/stat */
	const char *waits;   /* the system call that its first thread waits in, or NULL */
	const char *problem; /* of a compiler: why its queries cannot be read; NULL: it has none */
};

/*
 * -ESRCH if the process is gone or has exited; -ENOMEM. The caller clears `o` in any case.
 * `below_compiler`: its parent is a compiler, or a process that a compiler runs as a linker.
 */
int other__read(struct other *o, struct broker *broker, pid_t pid, bool below_compiler);
void other__clear(struct other *o);

/*
 * The kind of a program, by its name. A linker is always below a compiler, because build scripts
 * run C compilers of the same names. For other__read() and its test.
 */
enum other_kind other_kind_of(const char *program, bool below_compiler);

/* "linker", "build script", "compiler", "program". */
const char *other_kind_name(enum other_kind kind);

/* The number of innermost functions of a thread that get a name. */
#define SNAPSHOT_FUNCTIONS 64

struct snapshot_thread {
	struct task task;
	/* The time since when the thread is off the CPU, if that was recorded; else 0. */
	uint64_t off_since_ns;
	struct stuck_rows rows;
	struct stuck_llvm llvm;
	uint32_t n_begun;	  /* of these, recorded from now on although they began before */
	bool torn;		  /* its queries changed while they were read */
	bool cut;		  /* its latest entries did not all fit */
	bool preempted;		  /* off the CPU although it could run */
	const char *keys_problem; /* why the keys of what it entered before are unknown, or NULL */
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
