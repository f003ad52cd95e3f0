// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/follow_items.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "trace/writer.h"

#define FOREVER UINT64_MAX

enum label { TYPECK, LAYOUT_OF };

/* The trace, and what follows it from the first flush on. */
static struct trace_writer *w;
static struct follow f;
static struct follow_items items;

static int begin(void **state)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	uint32_t id;

	f = (struct follow){};
	items = (struct follow_items){};
	if (temporary_make(state) || unlink(temporary) || trace_writer__open(temporary, &info, &w))
		return -1;
	return trace_writer__intern(w, "typeck", &id) || trace_writer__intern(w, "layout_of", &id);
}

static int end(void **state)
{
	trace_writer__free(take_ptr(w));
	follow_items__destroy(&items);
	follow__destroy(&f);
	return temporary_remove(state);
}

static void write_process(uint32_t index, const char *crate)
{
	const struct trace_process p = {.index = index, .pid = 100 + index, .crate = (char *)crate};

	assert_int_equal(trace_writer__process(w, &p), 0);
}

static void write_span(uint32_t process, uint32_t label, uint64_t start, uint64_t end,
		       uint16_t depth, uint32_t invocation)
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
static void write_spans(uint32_t process)
{
	write_span(process, LAYOUT_OF, 120, 160, 1, 8);
	write_span(process, TYPECK, 100, 180, 0, 7);
}

static void write_name(uint32_t process, const char *path)
{
	struct trace_mapping m = {.process = process, .first = 7, .n = 1};

	assert_int_equal(trace_writer__intern(w, path, &m.string), 0);
	assert_int_equal(trace_writer__map(w, &m), 0);
}

static void open_follow(const char *path)
{
	struct trace_reader *reader = NULL;

	assert_int_equal(trace_reader__open(path, &reader, NULL), 0);
	assert_int_equal(follow__init(&f, reader), 0);
}

/* Read on. The items so far, as "process path self,". */
static void assert_items(const char *expected)
{
	char text[256] = "";
	bool more;

	if (!f.reader)
		open_follow(temporary);
	assert_int_equal(follow__read(&f, &more), 0);
	assert_int_equal(follow_items__read(&items, &f, FOREVER), 0);
	assert_int_equal(items.n_left, 0);
	for (uint32_t i = 0; i < items.list.n; i++) {
		const struct listed_item *item = &items.list.at[i];
		const char *path = item->item == TRACE_NO_STRING
					   ? "-"
					   : trace_reader__string(f.reader, item->item);
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%u %s %llu,", item->process, path,
			 (unsigned long long)item->self_ns);
	}
	assert_string_equal(text, expected);
}

static void flush(void)
{
	assert_int_equal(trace_writer__flush(w), 0);
}

static void finish(void)
{
	assert_int_equal(trace_writer__finish(w), 0);
}

TEST_CASE_WITH(names_that_come_late_are_those_of_earlier_spans, begin, end)
{
	write_process(0, "serde");
	write_process(1, "app");
	write_spans(0);
	write_spans(1);
	flush();
	assert_items("");
	assert_int_equal(items.list.changes, 0);
	write_name(0, "serde::de");
	write_span(1, TYPECK, 200, 300, 0, 9);
	flush();
	assert_items("0 serde::de 80,");
	/* Nothing is new. */
	assert_items("0 serde::de 80,");
	assert_int_equal(items.list.changes, 1);
	write_name(1, "app::main");
	finish();
	assert_items("1 - 100,0 serde::de 80,1 app::main 80,");
}

TEST_CASE_WITH(what_comes_after_the_names_counts, begin, end)
{
	write_process(0, "serde");
	write_spans(0);
	write_name(0, "serde::de");
	flush();
	assert_items("0 serde::de 80,");
	write_span(0, TYPECK, 200, 300, 0, 7);
	flush();
	assert_items("0 serde::de 180,");
	write_name(0, "serde::ser");
	finish();
	assert_items("0 serde::ser 180,");
}

/* As in `report --by item`. */
TEST_CASE_WITH(other_crates_and_off_cpu_times_are_no_items, begin, end)
{
	struct trace_span off = {
		.tid = 1,
		.start_ns = 150,
		.end_ns = 170,
		.depth = 1,
		.kind = TRACE_KIND_OFF_CPU,
	};

	off.invocation = TRACE_NO_INVOCATION;
	write_process(0, "app");
	write_span(0, LAYOUT_OF, 110, 140, 1, 7);
	assert_int_equal(trace_writer__span(w, &off), 0);
	write_span(0, TYPECK, 100, 200, 0, TRACE_NO_INVOCATION);
	write_name(0, "core::fmt");
	finish();
	assert_items("0 - 100,");
}

/* A look at the clock comes after a part only, and so does an answer. */
TEST_CASE_WITH(a_pass_may_take_several_calls, begin, end)
{
	int calls = 0;
	bool more;

	write_process(0, "serde");
	write_name(0, "serde::de");
	for (uint32_t i = 0; i < 10000; i++)
		write_span(0, TYPECK, i, i + 1, 0, 7);
	finish();
	open_follow(temporary);
	assert_int_equal(follow__read(&f, &more), 0);
	do {
		assert_int_equal(follow_items__read(&items, &f, 0), 0);
		assert_int_equal(items.list.n, items.n_left ? 0 : 1);
		calls++;
	} while (items.n_left);
	assert_int_equal(calls, 3);
	assert_items("0 serde::de 10000,");
	assert_int_equal(items.list.at[0].executions, 10000);
}

TEST_CASE_WITH(a_pipe_has_no_items, begin, end)
{
	char command[64], path[32];
	FILE *pipe;

	write_process(0, "serde");
	write_spans(0);
	write_name(0, "serde::de");
	finish();
	snprintf(command, sizeof(command), "cat %s", temporary);
	pipe = popen(command, "re");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(pipe));
	open_follow(path);
	assert_items("");
	assert_items("");
	pclose(pipe);
}

/* The number of a job of `query` about what has number 7. */
static uint32_t write_job(uint32_t process, uint32_t query)
{
	const struct trace_job job = {.process = process, .query = query, .invocation = 7};
	uint32_t id;

	assert_int_equal(trace_writer__job(w, &job, &id), 0);
	return id;
}

static void write_sample(uint32_t process, uint32_t query, uint32_t job, uint64_t time_ns)
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

TEST_CASE_WITH(items_of_samples_are_those_of_their_jobs, begin, end)
{
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	uint32_t job;

	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	write_process(0, "serde");
	write_process(1, "app");
	/* Activities of such a recording have probes; their time is that of samples all the same.
	 */
	write_spans(1);
	job = write_job(1, TYPECK);
	for (uint32_t i = 0; i < 3; i++)
		write_sample(1, TYPECK, job, i);
	write_sample(1, LAYOUT_OF, write_job(1, LAYOUT_OF), 3);
	write_sample(1, LAYOUT_OF, TRACE_NO_JOB, 4);
	write_sample(0, TYPECK, write_job(0, TYPECK), 5);
	flush();
	assert_items("");
	write_name(1, "app::main");
	flush();
	assert_items("1 app::main 8000,1 - 2000,");
	assert_true(items.list.at[0].sampled);
	assert_int_equal(items.list.at[0].most.label, TYPECK);
	assert_items("1 app::main 8000,1 - 2000,");
	assert_int_equal(items.list.changes, 1);
	write_sample(1, TYPECK, job, 6);
	write_name(0, "serde::de");
	finish();
	assert_items("1 app::main 10000,0 serde::de 2000,1 - 2000,");
}

TEST_MAIN(NULL, NULL)
