/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What people and programs see of `qprof-bpf stuck`. */
#ifndef QPROF_VIEW_STUCK_VIEW_H
#define QPROF_VIEW_STUCK_VIEW_H

#include <stdio.h>

#include "stuck/picture.h"

struct stuck_style {
	bool color;
	bool full;    /* every row and function */
	size_t width; /* columns; 0: as many as it takes */
};

/*
 * A paragraph per compiler: its threads, those that run something first, each with what it is in,
 * the outermost first; then what it started. What else runs of the build comes last. 0 or a
 * negative errno.
 */
int stuck_text(FILE *out, const struct picture *p, const struct stuck_style *style);

/*
 * One object, on a line; schema "qprof-stuck/1": {"schema", "time_ns" (CLOCK_MONOTONIC),
 * "watched_ns" (for how long), "processes": [{"pid", "crate" (or null), "command" (or null),
 * "age_ns", "threads": [{"tid", "name", "state" ("R", as in /proc/PID/stat), "cpu_ns", "off_ns"
 * (off the CPU since; null: it is on one, or this is not known), "preempted", "system_call" (that
 * it waits in, or null), "stopped_ns" (for how long, to read its stack), "stack" ("whole", "cut":
 * its outermost calls are missing, or why it could not be read), "consistent" (false: it went on
 * while it was read), "open": [{"name" (null: not told), "kind", "entered" ("exactly": it was seen;
 * "before": it is read from the stack), "start_ns", "elapsed_ns" (null if not seen)}] (outermost
 * first), "functions" (of the innermost calls, innermost first; a null: not known), "calls" (how
 * many there are)}]}], "others": [{"pid", "parent_pid", "kind" ("linker", "build script",
 * "compiler": one that has not begun, "program"), "name" (of the program), "subject" (package of a
 * build script, crate of a compiler, or null), "command" (or null), "age_ns", "cpu_ns", "state",
 * "system_call" (as of a thread)}] (all of the processes that were asked for, and of those below
 * them, that are no compilers at work; parents first)}
 */
int stuck_json(FILE *out, const struct picture *p);

#endif /* QPROF_VIEW_STUCK_VIEW_H */
