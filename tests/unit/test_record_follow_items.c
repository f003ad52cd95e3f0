// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/follow_items.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "trace/writer.h"

#define FOREVER UINT64_MAX

enum label { TYPECK, LAYOUT_OF };

static struct trace_writer *begin(void)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	struct trace_writer *w = NULL;
	uint32_t id;

	unlink(temporary);
	assert_int_equal(trace_writer__open(temporary, &info, &w), 0);
	assert_int_equal(trace_writer__intern(w, "typeck", &id), 0);
	assert_int_equal(trace_writer__intern(w, "layout_of", &id), 0);
	return w;
}

static void write_process(struct trace_writer *w, uint32_t index, const char *crate)
{
	const struct trace_process p = {.index = index, .pid = 100 + index, .crate = (char *)crate};

	assert_int_equal(trace_writer__process(w, &p), 0);
}

static void write_span(struct trace_writer *w, uint32_t process, uint32_t label, uint64_t start,
		       uint64_t end, uint16_t depth, uint32_t invocation)
{
	const struct trace_span span = {
		.process = process,
		.tid = process + 1,
		.label = label,
		.start_ns = start,
		.end_ns = end,
		.depth = depth,
		.invocation = invocation,
	};

	assert_int_equal(trace_writer__span(w, &span), 0);
}

/* An execution of `typeck`, and one without a name within it, of 40 ns each. */
static void write_spans(struct trace_writer *w, uint32_t process)
{
	write_span(w, process, LAYOUT_OF, 120, 160, 1, 8);
	write_span(w, process, TYPECK, 100, 180, 0, 7);
}

static void write_name(struct trace_writer *w, uint32_t process, const char *path)
{
	struct trace_mapping m = {.process = process, .first = 7, .n = 1};

	assert_int_equal(trace_writer__intern(w, path, &m.string), 0);
	assert_int_equal(trace_writer__map(w, &m), 0);
}

static void open_follow(struct follow *f)
{
	struct trace_reader *reader = NULL;

	assert_int_equal(trace_reader__open(temporary, &reader, NULL), 0);
	assert_int_equal(follow__init(f, reader), 0);
}

static void read_on(struct follow *f, struct follow_items *items)
{
	bool more;

	assert_int_equal(follow__read(f, &more), 0);
	assert_int_equal(follow_items__read(items, f, FOREVER), 0);
	assert_int_equal(items->n_left, 0);
}

static void check(const struct follow_items *items, const struct follow *f, uint32_t i,
		  uint32_t process, const char *path, uint64_t self_ns)
{
	const struct listed_item *item = &items->list.at[i];

	assert_true(i < items->list.n);
	assert_int_equal(item->process, process);
	assert_string_equal(trace_reader__string(f->reader, item->item), path);
	assert_int_equal(item->self_ns, self_ns);
}

TEST_CASE_WITH(names_that_come_late_are_those_of_earlier_spans, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin();
	_follow_items_ struct follow_items items = {};
	_follow_ struct follow f = {};

	write_process(w, 0, "serde");
	write_process(w, 1, "app");
	write_spans(w, 0);
	write_spans(w, 1);
	assert_int_equal(trace_writer__flush(w), 0);
	open_follow(&f);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 0);
	assert_int_equal(items.list.changes, 0);

	write_name(w, 0, "serde::de");
	write_span(w, 1, TYPECK, 200, 300, 0, 9);
	assert_int_equal(trace_writer__flush(w), 0);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 1);
	check(&items, &f, 0, 0, "serde::de", 80);
	/* Nothing is new. */
	read_on(&f, &items);
	assert_int_equal(items.list.changes, 1);

	write_name(w, 1, "app::main");
	assert_int_equal(trace_writer__finish(w), 0);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 3);
	assert_int_equal(items.list.at[0].item, TRACE_NO_STRING);
	assert_int_equal(items.list.at[0].self_ns, 100);
	check(&items, &f, 1, 0, "serde::de", 80);
	check(&items, &f, 2, 1, "app::main", 80);
}

TEST_CASE_WITH(what_comes_after_the_names_counts, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin();
	_follow_items_ struct follow_items items = {};
	_follow_ struct follow f = {};

	write_process(w, 0, "serde");
	write_spans(w, 0);
	write_name(w, 0, "serde::de");
	assert_int_equal(trace_writer__flush(w), 0);
	open_follow(&f);
	read_on(&f, &items);
	check(&items, &f, 0, 0, "serde::de", 80);
	write_span(w, 0, TYPECK, 200, 300, 0, 7);
	assert_int_equal(trace_writer__flush(w), 0);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 1);
	check(&items, &f, 0, 0, "serde::de", 180);
	write_name(w, 0, "serde::ser");
	assert_int_equal(trace_writer__finish(w), 0);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 1);
	check(&items, &f, 0, 0, "serde::ser", 180);
}

/* As in `report --by item`. */
TEST_CASE_WITH(other_crates_and_off_cpu_times_are_no_items, temporary_make, temporary_remove)
{
	struct trace_span off = {
		.tid = 1,
		.start_ns = 150,
		.end_ns = 170,
		.depth = 1,
		.kind = TRACE_KIND_OFF_CPU,
	};
	_trace_writer_ struct trace_writer *w = begin();
	_follow_items_ struct follow_items items = {};
	_follow_ struct follow f = {};

	off.invocation = TRACE_NO_INVOCATION;
	write_process(w, 0, "app");
	write_span(w, 0, LAYOUT_OF, 110, 140, 1, 7);
	assert_int_equal(trace_writer__span(w, &off), 0);
	write_span(w, 0, TYPECK, 100, 200, 0, TRACE_NO_INVOCATION);
	write_name(w, 0, "core::fmt");
	assert_int_equal(trace_writer__finish(w), 0);
	open_follow(&f);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 1);
	assert_int_equal(items.list.at[0].item, TRACE_NO_STRING);
	assert_int_equal(items.list.at[0].self_ns, 100);
}

/* A look at the clock comes after a part only, and so does an answer. */
TEST_CASE_WITH(a_pass_may_take_several_calls, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin();
	_follow_items_ struct follow_items items = {};
	_follow_ struct follow f = {};
	int calls = 0;
	bool more;

	write_process(w, 0, "serde");
	write_name(w, 0, "serde::de");
	for (uint32_t i = 0; i < 10000; i++)
		write_span(w, 0, TYPECK, i, i + 1, 0, 7);
	assert_int_equal(trace_writer__finish(w), 0);
	open_follow(&f);
	assert_int_equal(follow__read(&f, &more), 0);
	do {
		assert_int_equal(follow_items__read(&items, &f, 0), 0);
		assert_int_equal(items.list.n, items.n_left ? 0 : 1);
		calls++;
	} while (items.n_left);
	assert_int_equal(calls, 3);
	check(&items, &f, 0, 0, "serde::de", 10000);
	assert_int_equal(items.list.at[0].executions, 10000);
}

TEST_CASE_WITH(a_pipe_has_no_items, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin();
	_follow_items_ struct follow_items items = {};
	struct trace_reader *reader = NULL;
	_follow_ struct follow f = {};
	char command[64], path[32];
	FILE *pipe;

	write_process(w, 0, "serde");
	write_spans(w, 0);
	write_name(w, 0, "serde::de");
	assert_int_equal(trace_writer__finish(w), 0);
	snprintf(command, sizeof(command), "cat %s", temporary);
	pipe = popen(command, "re");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(pipe));
	assert_int_equal(trace_reader__open(path, &reader, NULL), 0);
	assert_int_equal(follow__init(&f, reader), 0);
	read_on(&f, &items);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 0);
	pclose(pipe);
}

/* The number of a job of `query` about what has number 7. */
static uint32_t write_job(struct trace_writer *w, uint32_t process, uint32_t query)
{
	const struct trace_job job = {.process = process, .query = query, .invocation = 7};
	uint32_t id;

	assert_int_equal(trace_writer__job(w, &job, &id), 0);
	return id;
}

static void write_sample(struct trace_writer *w, uint32_t process, uint32_t query, uint32_t job,
			 uint64_t time_ns)
{
	const struct trace_stack stack = {.kind = TRACE_STACK_QUERY, .place = query};
	struct trace_sample sample = {
		.process = process,
		.tid = process + 1,
		.time_ns = time_ns,
		.value = 2000,
		.job = job,
		.label = TRACE_NO_STRING,
		.cause = TRACE_SAMPLE_CPU,
	};

	assert_int_equal(trace_writer__stack(w, &stack, &sample.stack), 0);
	assert_int_equal(trace_writer__sample(w, &sample), 0);
}

TEST_CASE_WITH(items_of_samples_are_those_of_their_jobs, temporary_make, temporary_remove)
{
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	_trace_writer_ struct trace_writer *w = begin();
	_follow_items_ struct follow_items items = {};
	_follow_ struct follow f = {};
	uint32_t job;

	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	write_process(w, 0, "serde");
	write_process(w, 1, "app");
	/* Activities of such a recording have probes; their time is that of samples all the same.
	 */
	write_spans(w, 1);
	job = write_job(w, 1, TYPECK);
	for (uint32_t i = 0; i < 3; i++)
		write_sample(w, 1, TYPECK, job, i);
	write_sample(w, 1, LAYOUT_OF, write_job(w, 1, LAYOUT_OF), 3);
	write_sample(w, 1, LAYOUT_OF, TRACE_NO_JOB, 4);
	write_sample(w, 0, TYPECK, write_job(w, 0, TYPECK), 5);
	assert_int_equal(trace_writer__flush(w), 0);
	open_follow(&f);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 0);

	write_name(w, 1, "app::main");
	assert_int_equal(trace_writer__flush(w), 0);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 2);
	check(&items, &f, 0, 1, "app::main", 8000);
	assert_true(items.list.at[0].sampled);
	assert_int_equal(items.list.at[0].most.label, TYPECK);
	assert_int_equal(items.list.at[1].item, TRACE_NO_STRING);
	assert_int_equal(items.list.at[1].self_ns, 2000);
	read_on(&f, &items);
	assert_int_equal(items.list.changes, 1);

	write_sample(w, 1, TYPECK, job, 6);
	write_name(w, 0, "serde::de");
	assert_int_equal(trace_writer__finish(w), 0);
	read_on(&f, &items);
	assert_int_equal(items.list.n, 3);
	check(&items, &f, 0, 1, "app::main", 10000);
}

TEST_MAIN(NULL, NULL)
