// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/follow.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "trace/writer.h"

static void write_span(struct trace_writer *w, uint32_t tid, uint64_t start, uint64_t end,
		       uint16_t depth)
{
	const struct trace_span span = {
		.start_ns = start,
		.end_ns = end,
		.tid = tid,
		.depth = depth,
		.invocation = TRACE_NO_INVOCATION,
	};

	assert_int_equal(trace_writer__span(w, &span), 0);
}

static struct trace_writer *begin(void)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	const struct trace_process p = {.pid = 7, .crate = (char *)"serde"};
	struct trace_writer *w = NULL;
	uint32_t id;

	unlink(temporary);
	assert_int_equal(trace_writer__open(temporary, &info, &w), 0);
	assert_int_equal(trace_writer__intern(w, "typeck", &id), 0);
	assert_int_equal(trace_writer__process(w, &p), 0);
	return w;
}

TEST_CASE(spans_are_summed_as_they_are_written)
{
	const struct trace_thread thread = {.tid = 8, .name = "rustc"};
	struct trace_losses losses = {.count = {[TRACE_LOST_RING_FULL] = 3}};
	_trace_writer_ struct trace_writer *w = begin();
	struct trace_reader *reader = NULL;
	_free_ struct summary_row *rows = NULL;
	_follow_ struct follow f = {};
	size_t n;
	bool more;

	assert_int_equal(trace_writer__flush(w), 0);
	assert_int_equal(trace_reader__open(temporary, &reader, NULL), 0);
	assert_int_equal(follow__init(&f, reader), 0);
	assert_int_equal(follow__read(&f, &more), 0);
	assert_true(more);
	assert_int_equal(summary__n_processes(f.model.summary), 1);
	assert_int_equal(follow__read(&f, &more), 0);
	assert_false(more);
	assert_false(f.over);

	assert_int_equal(trace_writer__thread(w, &thread), 0);
	/* The child arrives in an earlier read than its parent, whose self time excludes it. */
	write_span(w, 8, 120, 150, 1);
	assert_int_equal(trace_writer__flush(w), 0);
	assert_int_equal(follow__read(&f, &more), 0);
	assert_true(more);
	write_span(w, 8, 100, 200, 0);
	assert_int_equal(trace_writer__losses(w, &losses), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(follow__read(&f, &more), 0);
	assert_true(f.over);
	assert_true(f.model.has_losses);
	assert_int_equal(trace_losses__total(&f.model.losses), 3);
	assert_int_equal(summary__rows(f.model.summary, 0, &rows, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].count, 2);
	assert_int_equal(rows[0].self_ns, 100);
	assert_int_equal(pivot__n_threads(f.model.threads), 1);
	assert_int_equal(pivot__thread_at(f.model.threads, 0).count, 2);
	assert_string_equal(pivot__thread_at(f.model.threads, 0).name, "rustc");
	assert_int_equal(follow__read(&f, &more), 0);
	assert_false(more);
}

TEST_MAIN(temporary_make, temporary_remove)
