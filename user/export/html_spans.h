/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Encodes the intervals of a page as batches of columns, because columns compress well.
 * html/spans.js decodes them. All numbers are varints, and differences are zigzag (trace/bytes.h).
 *
 * A batch holds the number of spans n, which is 0 after the last batch, and the number of runs.
 * Then follow for each run its thread, its number of spans, and the time where it begins, as a
 * difference to the end of the previous span of any thread. Then follow the columns, n values each:
 *
 *   depth    difference to the previous span
 *   what     number of the name and kind, chosen by the caller
 *   flags    enum trace_span_flag
 *   key      0: none, else 1 + the difference to (the last key + 1)
 *   a, b     the low bytes of a, the rest of a, the low bytes of b, the rest of b
 *
 * Times are relative to the times that a span is likely to touch, as in the trace
 * (docs/trace-format.md). A run has a list of open spans, each with a depth and a start. A span of
 * less depth than the last open span encloses open spans: it starts `a` before the first of them,
 * and ends `b` after the end of the previous span. Any other span starts `a` after the end of the
 * previous span, and ends `b` after its own start. `a` is a signed difference in both cases, and
 * `b` in the first, because not all spans nest.
 */
#ifndef QPROF_EXPORT_HTML_SPANS_H
#define QPROF_EXPORT_HTML_SPANS_H

#include <stdio.h>

#include "export/job.h"
#include "export/out.h"
#include "trace/bytes.h"

#define HTML_NO_KEY UINT32_MAX

enum html_column {
	HTML_DEPTH,
	HTML_WHAT,
	HTML_FLAGS,
	HTML_KEY,
	HTML_A_LOW,
	HTML_A_HIGH,
	HTML_B_LOW,
	HTML_B_HIGH,
	HTML_COLUMNS,
};

struct html_run {
	uint32_t thread;
	uint32_t n;
	uint64_t gap;
};

struct html_open {
	uint32_t depth;
	uint64_t start_ns;
};

/* All zeroes is empty; the first differences are to 0. */
struct html_spans {
	struct byte_buffer columns[HTML_COLUMNS];
	struct html_run *runs;
	uint32_t n_runs;
	uint32_t runs_capacity;
	struct html_open *open; /* of the run */
	uint32_t n_open;
	uint32_t open_capacity;
	uint32_t n; /* of the batch */
	uint64_t last_end_ns;
	uint32_t last_depth;
	uint32_t last_key;
};

struct html_span {
	uint32_t thread;
	uint32_t depth;
	uint32_t what;
	uint32_t key; /* or HTML_NO_KEY */
	uint8_t flags;
	uint64_t start_ns; /* on any clock; differences are modulo 2^64 */
	uint64_t end_ns;
};

/* Add a span; full batches go to `to`. 0 or -ENOMEM. */
int html_spans__add(struct html_spans *s, const struct html_span *span, struct gzip *to);

/* Write the last batch and the end mark. 0 or -ENOMEM. */
int html_spans__finish(struct html_spans *s, struct gzip *to);

void html_spans__destroy(struct html_spans *s);

/*
 * The output of `report --json --by crate`, with the object "build" that a report without --by has,
 * so that a page shows exactly the same numbers.
 */

struct html_report;

/* The job outlives it. 0, or -ENOMEM. */
int html_report__new(struct export_job *job, struct html_report **out);
/* Take an item. Call it for every item, in the order of the trace. 0 or a negative errno. */
int html_report__item(struct html_report *h, const struct trace_item *item);
/* Print, after all items. 0 or a negative errno. */
int html_report__print(struct html_report *h, FILE *to);
void html_report__free(struct html_report *h);
DEFINE_CLEANUP(struct html_report, html_report__free)
#define _html_report_ __cleanup(html_report__free_p)

#endif /* QPROF_EXPORT_HTML_SPANS_H */
