/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What people and programs see of a comparison (analyze/compare.h). */
#ifndef QPROF_VIEW_DIFF_H
#define QPROF_VIEW_DIFF_H

#include <stdio.h>

#include "analyze/compare.h"

/* A trace that was compared. */
struct diff_trace {
	const char *path;
	enum compare_side side;
	const char *problem; /* what is wrong with it (trace_reader__problem()), or NULL */
	bool has_lost;	     /* it says how much was lost: */
	uint64_t lost;
	uint64_t counted;     /* executions that were not recorded, exactly */
	uint64_t estimated;   /* and about; */
	bool rough;	      /* if that is said, even of none */
	bool unwatched;	      /* what is no query was not watched all the time */
	uint32_t compiles;    /* compilers that did not only answer a question; of them: */
	uint32_t late;	      /* ran before their probes were there */
	uint32_t cut;	      /* were killed, or their end was not seen */
	const char *compiler; /* its version, of several the first by name; or NULL */
};

/* A limit, what it is about, and whether that is above. */
struct diff_gate {
	const char *text; /* as it was given */
	uint64_t limit_ns;
	uint64_t limit_millipercent; /* of what it was; where limit_ns is 0 */
	struct compare_row row;
	bool exceeded;
};

struct diff_view {
	const struct compare_result *result;
	const struct diff_trace *traces;
	size_t n_traces;
	const struct diff_gate *gates;
	size_t n_gates;
	size_t top;   /* rows to show; 0 = all; text and Markdown only */
	size_t width; /* columns of the text; 0: as many as it takes */
};

int diff_text(FILE *out, const struct diff_view *v);

int diff_markdown(FILE *out, const struct diff_view *v);

/*
 * The JSON of `qprof-bpf diff --json`, schema "qprof-diff/1":
 * {"schema", "metric" ("self", "total" or "count"), "min_ns", "min_percent" (what a change has to
 *  be at least), "noise": null if it is measured, else {"percent" (null: it cannot be told)};
 *  "traces": [{"path", "side" ("base" or "new"), "problem" (text or null), "lost" (or null),
 *  "counted", "estimated" (executions that were not recorded), "compiles" (compilers), "late" (of
 *  them: ran before their probes were there), "cut" (killed, or their end was not seen),
 *  "compiler" (its version, or null), "unwatched" (true: activities, waiting or loading were not
 *  watched all the time, to keep within a budget)}],
 *  "gates": [{"text", "limit_ns" or "limit_percent", "exceeded", and as below}],
 *  "build": {as below},
 *  "crates": [{"crate", "type", "name" (as in text), and as below}],
 *  "rows": [{"crate", "type", "name", "query", and as below}]}
 * As below: "change", "change_percent" (null: it was 0) of the metric's medians, "compared" (false:
 * executions were not recorded, and the metric is not known), "significant",
 * "base" and "new": null if no trace of that side has it, else {"self_ns", "total_ns", "count"},
 * each
 * {"n" (traces), "median", "min", "max"}. Rows are sorted: significant ones first, then by change.
 */
int diff_json(FILE *out, const struct diff_view *v);

#endif /* QPROF_VIEW_DIFF_H */
