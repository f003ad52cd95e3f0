/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes that --crate and --process choose, of any command that reads a trace. */
#ifndef QPROF_CLI_PROCESS_FILTER_H
#define QPROF_CLI_PROCESS_FILTER_H

#include "analyze/model.h"
#include "options/options.h"
#include "trace/reader.h"

struct process_filter {
	const struct cli_processes *of;
	bool found; /* some process was chosen */
};

bool process_filter__is_set(const struct cli_processes *of);

/* Whether a process is chosen; for struct trace_filter, whose `ctx` is the struct process_filter.
 */
bool process_filter__wants(void *ctx, const struct trace_process *p);

/*
 * Let a newly opened reader return what belongs to the chosen processes only, with new numbers. The
 * filter must outlive the reader. Nothing changes if none are chosen.
 */
void process_filter__apply(struct process_filter *f, struct trace_reader *r);

/*
 * The build that a trace has beside what was chosen: how long it took, and what it waited for, is
 * not known by a part of it. All zeroes: not needed.
 */
struct whole_build {
	struct trace_reader *r; /* holds the names */
	struct model model;	/* with a build */
};

/* Read all of `file`, if some processes are chosen. 0, or a negative errno after an error line. */
int whole_build__read(struct whole_build *w, const struct cli_processes *of, const char *file);
void whole_build__clear(struct whole_build *w);

/* After all was read: 0, or -ENODATA after an error line if nothing was chosen. */
int process_filter__check(const struct process_filter *f, const char *file);

#endif /* QPROF_CLI_PROCESS_FILTER_H */
