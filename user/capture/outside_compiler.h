/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One compiler that is read from outside: from time to time, what it executes and how much CPU time
 * it has taken since, and how many results its queries have. It is neither stopped nor written to.
 *
 * Its memory may hold anything, and changes while it is read: names show that a table is where the
 * plan says, the numbers of jobs are never given twice in a context, and numbers of results are
 * exact only if two readings agree after the thread has left the context (below).
 */
#ifndef QPROF_CAPTURE_OUTSIDE_COMPILER_H
#define QPROF_CAPTURE_OUTSIDE_COMPILER_H

#include "base/map.h"
#include "capture/compiler_results.h"
#include "capture/session_sink.h"

/* The number of the label of samples in LLVM, and its text: the sink gets both before. */
#define OUTSIDE_LLVM	  1
#define OUTSIDE_LLVM_TEXT "LLVM"

/* What is read of compilers of one library. */
struct outside_library {
	struct library_file *file;
	struct plan *plan;	      /* NULL: not yet, or it failed */
	struct plan_job *job;	      /* makes the plan; or NULL */
	struct wire_job_tables *jobs; /* NULL: it is not known what its compilers execute */
	struct compiler_tables tables;
	uint8_t number; /* in records */
};

/* A thread beside that of the query context. */
struct outside_thread {
	pid_t tid;
	bool in_llvm;  /* by its name */
	bool seen;     /* by the last reading */
	uint8_t looks; /* at its name */
	uint64_t cpu_ns;
};

struct outside_compiler {
	pid_t pid;
	const struct outside_library *lib;
	uint64_t bias; /* of the library */
	/* The thread that works in the query context, and that; 0: none was found yet. */
	pid_t tid;
	uint64_t fs;
	struct compiler_context context;
	bool left;		    /* the thread has left it: no more queries are executed */
	bool closed;		    /* its memory cannot be read */
	bool known;		    /* its numbers of results are, for good */
	bool has_llvm;		    /* a thread of LLVM was seen */
	bool may_load;		    /* it had results of an earlier compile when it was found */
	bool executed;		    /* queries, after that */
	uint64_t cpu_ns, thread_ns; /* as of the last reading: of the process, and of that thread */
	uint64_t found_ns, counted_ns; /* when its context was, and its results were last read */
	uint64_t watch_ns;	       /* it is watched then; UINT64_MAX: not */
	uint64_t sought_ns;	       /* and when another context was looked for */
	bool sharded;		       /* tables are several others */
	uint64_t n_definitions;	       /* that were copied */
	uint64_t names_ns;	       /* they are not copied again before */
	struct outside_thread *threads;
	uint32_t n_threads, threads_capacity;
	struct u64_map sent;	      /* jobs whose record was sent */
	struct wire_count *counts[2]; /* the last two readings */
	uint32_t n_counts, n_left;    /* readings; of these, since the thread has left */
};

/* All zeroes but for the first three. */
void outside_compiler__init(struct outside_compiler *c, pid_t pid,
			    const struct outside_library *lib, uint64_t bias);

/*
 * Read it, and pass what it does to the sink: at `now_ns`, CLOCK_MONOTONIC. 0; -ESRCH: it is gone;
 * -EPERM, -ENOSYS: its memory cannot be read, from now on only its CPU time is; or the sink's
 * error.
 */
int outside_compiler__read(struct outside_compiler *c, const struct session_sink *sink,
			   uint64_t now_ns);

/*
 * When to ask next, after `now_ns`, whether it has left its query context; UINT64_MAX: not at all.
 * Asking costs little. If it has, read it.
 */
uint64_t outside_compiler__watch_ns(const struct outside_compiler *c, uint64_t now_ns);
bool outside_compiler__has_left(struct outside_compiler *c);

void outside_compiler__clear(struct outside_compiler *c);

/*
 * Where a process has mapped a compiler's library: its path, which the caller frees, the device and
 * inode as in /proc/PID/maps, and the bias. -ENOENT: it has none; -ESRCH: it is gone.
 */
struct outside_mapping {
	char *path;
	dev_t dev;
	ino_t ino;
	uint64_t bias;
};

int outside_mapping__find(pid_t pid, struct outside_mapping *out);

/* CPU time of a process, with its threads that have ended; 0: it is gone. */
uint64_t outside_cpu_ns(pid_t pid);

#endif /* QPROF_CAPTURE_OUTSIDE_COMPILER_H */
