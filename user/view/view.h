/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What people and programs see of a summary: the live view, the report, their JSON. Writes to a
 * FILE it is given; knows nothing of how the numbers came to be.
 */
#ifndef QPROF_VIEW_VIEW_H
#define QPROF_VIEW_VIEW_H

#include <stdio.h>

#include "analyze/decisions.h"
#include "analyze/callers.h"
#include "analyze/groups.h"
#include "analyze/summary.h"
#include "trace/trace.h"

struct build_view; /* view/build.h */

/* Names for string ids. */
struct view_names {
	const void *ctx;
	const char *(*text)(const void *ctx, uint32_t id);
	const char *(*kind)(const void *ctx, unsigned int kind); /* NULL: trace_kind_text() */
};

struct live_view;

enum live_mode {
	LIVE_TERMINAL, /* a table redrawn in place */
	LIVE_BLOCKS,   /* one block of lines per interval */
	LIVE_JSON,     /* one NDJSON object per interval, schema "qprof-live/1" */
	LIVE_NONE,
};

struct live_state {
	uint64_t now_ns;    /* CLOCK_MONOTONIC */
	uint64_t start_ns;  /* when the capture began */
	uint32_t processes; /* compilers seen so far */
	uint32_t running;
	bool recorded_only; /* with a budget: what is not recorded is in no row before the end */
	const struct trace_losses *losses;
	const struct summary *summary;
	const struct view_names *names;
};

/* `out` outlives it, and is not closed. 0, or -ENOMEM. */
int live_view__new(FILE *out, enum live_mode mode, struct live_view **v);
/* Draw one interval; rates are since the last draw. */
int live_view__draw(struct live_view *v, const struct live_state *state);
/* Leave the terminal as it was found. Safe to call twice, and from live_view__free(). */
void live_view__restore(struct live_view *v);
void live_view__free(struct live_view *v);
DEFINE_CLEANUP(struct live_view, live_view__free)
#define _live_view_ __cleanup(live_view__free_p)

/* By what rows are ordered, the largest first. */
enum report_sort {
	REPORT_SORT_SELF,
	REPORT_SORT_TOTAL, /* wall time in rows that are not queries */
	REPORT_SORT_COUNT,
	REPORT_SORT_MAX,
	REPORT_SORT_NAME,
	REPORT_SORT_OFF, /* what of self time was off the CPU */
	REPORT_SORT_CPU, /* and what of it was not */
};

/* All zeroes: every query. */
struct report_options {
	size_t top;	     /* rows to show, of queries and of processes; 0 = all; text only */
	size_t width;	     /* columns of the text; 0: as many as it takes */
	const char *problem; /* what is wrong with the trace (trace_reader__problem()), or NULL */
	enum report_sort sort;
	uint64_t min_self_ns;	   /* rows with less self time are left out */
	uint64_t min_millipercent; /* and those with less than this of all, in 1/100000 */
	/* Queries to show; NULL = all. */
	bool (*query)(const void *ctx, const char *name);
	const void *query_ctx;
	/* Rows are `by` these, and not queries; NULL = queries. They hold only what is to be shown.
	 */
	const struct groups *groups;
	enum group_by by;
	/* What the probes cost; NULL if the trace does not say. Taken off, unless `raw`. */
	const struct trace_costs *costs;
	bool raw;
	/* Rows are those who asked for the queries, and not queries; NULL = queries. As `groups`.
	 */
	const struct callers *callers;
	struct caller_locator locator;
	const struct decisions *decisions; /* NULL: there was no budget */
	const struct build_view *build;	   /* NULL: none in the JSON */
	uint64_t all_self_ns; /* self time of all, shown or not; what percent are of, with groups */
};

/* The table of `qprof-bpf report`, also printed at the end of a capture. */
int report_text(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct view_names *names, const struct report_options *opt);

/*
 * The JSON of `qprof-bpf report --json`, schema "qprof-report/1":
 * {"schema", "problem" (text or null), "lost" (total), "losses" (counts by cause; both null if
 *  the trace does not say), "processes": [{"pid", "parent_pid", "crate", "crate_type", "command",
 *  "rustc_version", "build_id", "exit" (status; null if unknown or killed), "signal" (or null),
 *  "attached_late", "start_ns", "end_ns", "queries": [...]}], "queries": [{"name", "count",
 *  "unwound", "total_ns", "self_ns", "mean_ns", "min_ns", "max_ns"}]}
 * If the trace says what the probes cost there is, after "losses", "probes": {"hits",
 * "emulated_ps", "stepped_ps", "probe_ns" (what they took), "wall_ns" (of the compilers, summed),
 * "taken_off"}; and in queries, if it was taken off, "raw_total_ns" and "raw_self_ns". The last is
 * summed over all processes. With groups there is, before "processes", "groups":
 * [{"name", "processes", "count", "unwound", "wall_ns", "self_ns", "max_ns"}]. With callers,
 * "callers": [{"function" (null: not known), "count", "unwound", "total_ns", "self_ns", "max_ns",
 * "file", "line" (of the most frequent call; null: not known), "line_count" (executions it asked
 * for), "lines" (different ones)}].
 * What only some traces have is left out where there is none of it: in queries "self_off_ns" and
 * "off_ns" (how much of raw_self_ns and raw_total_ns, or of self_ns and total_ns where those are
 * not there, the thread was off the CPU), in groups "self_off_ns", and of all that a thread did
 * "preempted_ns" and "waiting_ns"; in queries "self_cpu_ns" (self_ns without
 * self_off_ns; only with that), "hits", "blocked_ns", "incremental_load_ns",
 * "incremental_hashing_ns"; at the end "tallies":
 * [{"pid", "kind", "name", "events", "sum"}].
 * Where executions have no span, to keep within a budget, queries have "counted" (of "count", which
 * is exact; no time of the row has them), "estimated" (executions that are not in "count") and
 * "estimated_ns" (what both may have taken, in no other time of the row); and before "processes",
 * "budget": {"budget_ppm" (of CPU time), "decisions", "last_cost_ppm", "most_cost_ppm" (what probes
 * took just before decisions: at the last, and at most), "queries": [{"name", "decisions", "watch"
 * (as dump has it; at the end), "counted_ns", "off_ns" (for how long)}], "others" (what is no
 * query and was not watched; left out if there is none: as a query, with its "kind"; the name
 * "<all>" stands for all of it)}.
 * Without an execution that was recorded "mean_ns", "min_ns" and "max_ns" are null; "total_ns" too
 * if others have no estimate of their time.
 * Where results were loaded from an incremental build's cache, queries have "loads" and "loaded"
 * (of them, those that found something: at least), and a process "incremental": {"executed" (with
 * those that were only counted), "estimated" (executions that are not in it; left out if none
 * are estimated),
 * "loads", "loaded" (null: executions that were not recorded do not let it be told), "results" (at
 * least; null: not known)}; see docs/events.md.
 * Before "processes", unless rows are others than queries, "build": docs/report.md has its fields.
 */
int report_json(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct view_names *names, const struct report_options *opt);

/*
 * The lines of `qprof-bpf dump`, schema "qprof-dump/1": a header, then one object per item. 0 or
 * a negative errno.
 */
int dump_header(FILE *out, const struct trace_info *info);
int dump_process(FILE *out, const struct trace_process *p);
int dump_thread(FILE *out, const struct trace_thread *t, const struct trace_process *p);

/* What the numbers of a span stand for. */
struct dump_span_texts {
	const char *name;
	const char *kind;		     /* measureme's; NULL: a query */
	const char *event;		     /* of its invocation id, or NULL */
	const struct trace_location *caller; /* NULL: it has none, or in no function */
	bool probes;			     /* what they took of it is known */
	uint64_t off_ns;		     /* of it, off the CPU; 0: none, or not known */
};

int dump_span(FILE *out, const struct trace_span *span, const struct trace_process *p,
	      const struct dump_span_texts *texts);
int dump_tally(FILE *out, const struct trace_tally *t, const char *name, const char *kind);
/* `kind` is measureme's; NULL: it is on a query. */
int dump_decision(FILE *out, const struct trace_decision *d, const char *name, const char *kind);
int dump_losses(FILE *out, const struct trace_losses *losses);
int dump_costs(FILE *out, const struct trace_costs *costs);

/* The JSON schema (draft 2020-12) of a line. */
void dump_schema(FILE *out);

#endif /* QPROF_VIEW_VIEW_H */
