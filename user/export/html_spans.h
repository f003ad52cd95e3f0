/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The intervals of a page as bytes: batches, each a column after the other, as columns compress
 * well. html/spans.js reads them. All numbers are varints, differences zigzag (trace/bytes.h).
 *
 * A batch is: the number of spans n, 0 behind the last batch; the number of runs; for each run the
 * thread, its number of spans, and (a difference to the end of the span before, over all) the time
 * where it begins; and then the columns, n of each:
 *
 *   depth    difference to the span before
 *   what     which name and kind, by a number that the caller gives
 *   flags    enum trace_span_flag
 *   key      0: none, else 1 + the difference to the one after the last that was given
 *   a, b     first the low bytes, then what is above them; of a, then of b
 *
 * Times are told by what a span is likely to touch, as in the trace (docs/trace-format.md). In a
 * run there are open spans, each with a depth and a start. One that is not as deep as the last of
 * those encloses some: it starts a before the first that it encloses, and ends b after the end of
 * the span before. Any other starts a after that end and ends b after its start. `a` of both, and b
 * of the first are differences, as not everything nests.
 */
#ifndef QPROF_EXPORT_HTML_SPANS_H
#define QPROF_EXPORT_HTML_SPANS_H

#include "export/packed.h"
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

/* All zeroes is empty, and its first differences are to 0. */
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
	uint64_t start_ns; /* since whatever; differences are modulo 2^64 */
	uint64_t end_ns;
};

/* Add a span; full batches go to `to`. 0 or -ENOMEM. */
int html_spans__add(struct html_spans *s, const struct html_span *span, struct packed *to);

/* What is left, and the end. 0 or -ENOMEM. */
int html_spans__finish(struct html_spans *s, struct packed *to);

void html_spans__destroy(struct html_spans *s);

#endif /* QPROF_EXPORT_HTML_SPANS_H */
