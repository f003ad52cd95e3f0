/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print the snapshot of `qprof-bpf stuck` as text and JSON. */
#ifndef QPROF_VIEW_STUCK_VIEW_H
#define QPROF_VIEW_STUCK_VIEW_H

#include <stdio.h>

#include "stuck/snapshot.h"

struct stuck_style {
	bool color;
	bool full;    /* show every row and function */
	size_t width; /* columns; 0: unlimited */
};

/* Its compile_name(). The caller frees it; NULL: no memory. */
char *stuck_compile_name(const struct snapshot_process *p);

/*
 * A paragraph per compiler: its threads, busy ones first, each with its open intervals from the
 * outermost; then the processes it started. Other processes of the build come last. 0 or a negative
 * errno.
 */
int stuck_text(FILE *out, const struct snapshot *p, const struct stuck_style *style);

/*
 * As the recording of running compilers begins: a line for each thread that is in something, with
 * the intervals from the outermost.
 */
void stuck_begun(FILE *out, const struct snapshot *p);

/*
 * One object, on a line; schema "qprof-stuck/1": {"schema", "time_ns" (CLOCK_MONOTONIC),
 * "watched_ns" (for how long), "processes": [{"pid", "crate" (or null), "name" (of the compile,
 * as everywhere), "command" (or null), "age_ns", "threads": [{"tid", "name", "state" ("R", as in
 * /proc/PID/stat), "cpu_ns", "off_ns" (off the CPU since; null: on a CPU, or unknown), "preempted",
 * "system_call" (in which it waits, or null), "stopped_ns" (for how long, to read its stack),
 * "stack" ("whole", "cut": its outermost calls are missing, or why it could not be read),
 * "consistent" (false: it went on while it was read), "open": [{"name" (null: unknown), "kind",
 * "key" (the path of the definition that a query is about; null: it is about none of the crate, or
 * unknown), "entered" ("exactly": it was seen; "before": it is read from the stack), "start_ns",
 * "elapsed_ns" (null if not seen)}] (outermost first), "llvm": {"pass", "type" (of the pass, as
 * LLVM's classes are named), "function" (path of the definition), "symbol" (null: none, or
 * unknown), "scope" ("function", "module", "none": it is in no pass), "codegen" (the pass is one of
 * the code generator)} (null: the thread is not in LLVM, or what that does is unknown), "functions"
 * (of the innermost calls, innermost first; null: unknown), "calls" (how many there are)}]}],
 * "others": [{"pid", "parent_pid", "kind" ("linker", "build script", "compiler": not started yet,
 * "program"), "name" (of the program), "subject" (package of a build script, crate of a compiler,
 * or null), "command" (or null), "age_ns", "cpu_ns", "state", "system_call" (as of a thread)}] (the
 * requested processes and their descendants, without compilers at work; parents first)}
 */
int stuck_json(FILE *out, const struct snapshot *p);

#endif /* QPROF_VIEW_STUCK_VIEW_H */
