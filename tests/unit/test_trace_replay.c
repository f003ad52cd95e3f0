// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/replay.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "trace/writer.h"

static struct trace_writer *begin(uint32_t n_processes)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	struct trace_writer *w = NULL;
	uint32_t id;

	unlink(temporary);
	assert_int_equal(trace_writer__open(temporary, &info, &w), 0);
	assert_int_equal(trace_writer__intern(w, "typeck", &id), 0);
	for (uint32_t i = 0; i < n_processes; i++) {
		const struct trace_process p = {.index = i, .pid = 100 + i};

		assert_int_equal(trace_writer__process(w, &p), 0);
	}
	return w;
}

/* A span that can be told by its start. */
static void write_span(struct trace_writer *w, uint32_t process, uint64_t start, uint8_t kind)
{
	const struct trace_span span = {
		.process = process,
		.tid = process + 1,
		.start_ns = start,
		.end_ns = start + 5,
		.kind = kind,
		.invocation = TRACE_NO_INVOCATION,
	};

	assert_int_equal(trace_writer__span(w, &span), 0);
}

static void read_to_the_end(struct trace_reader *r)
{
	struct trace_item item;

	do {
		assert_int_equal(trace_reader__next(r, &item), 0);
	} while (item.kind != TRACE_ITEM_END);
	trace_reader__resume(r);
}

static void next_is(struct trace_replay *p, uint64_t start)
{
	struct trace_span span;

	assert_int_equal(trace_replay__next(p, &span), 1);
	assert_int_equal(span.start_ns, start);
}

static void is_over(struct trace_replay *p)
{
	struct trace_span span;

	assert_int_equal(trace_replay__next(p, &span), 0);
	assert_int_equal(trace_replay__next(p, &span), 0);
}

static void spans_come_again_as_far_as_they_were_read(void **state)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;
	struct trace_span span;

	write_span(w, 0, 100, TRACE_KIND_QUERY);
	write_span(w, 0, 110, TRACE_KIND_ACTIVITY);
	assert_int_equal(trace_writer__flush(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	assert_int_equal(trace_replay__new(r, &p), 0);
	trace_replay__begin(p, 0, 0);
	is_over(p);
	read_to_the_end(r);
	write_span(w, 0, 120, TRACE_KIND_QUERY);
	assert_int_equal(trace_writer__flush(w), 0);
	for (int i = 0; i < 2; i++) {
		trace_replay__begin(p, 0, 0);
		next_is(p, 100);
		assert_int_equal(trace_replay__next(p, &span), 1);
		assert_int_equal(span.start_ns, 110);
		assert_int_equal(span.kind, TRACE_KIND_ACTIVITY);
		assert_string_equal(trace_reader__string(r, span.label), "typeck");
		is_over(p);
	}
	read_to_the_end(r);
	is_over(p);
	trace_replay__begin(p, 0, 0);
	next_is(p, 100);
	/* A pass may begin in the middle of another. */
	trace_replay__begin(p, 0, 0);
	next_is(p, 100);
	next_is(p, 110);
	next_is(p, 120);
	is_over(p);
}

static void chunks_of_other_processes_are_left_out(void **state)
{
	_trace_writer_ struct trace_writer *w = begin(4);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;

	for (uint32_t i = 0; i < 4; i++) {
		write_span(w, i, 100 + 10 * i, TRACE_KIND_QUERY);
		assert_int_equal(trace_writer__flush(w), 0);
	}
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	read_to_the_end(r);
	assert_int_equal(trace_replay__new(r, &p), 0);
	trace_replay__begin(p, 0, 3);
	for (uint32_t i = 0; i < 4; i++)
		next_is(p, 100 + 10 * i);
	is_over(p);
	trace_replay__begin(p, 2, 2);
	next_is(p, 120);
	is_over(p);
	trace_replay__begin(p, 1, 2);
	next_is(p, 110);
	next_is(p, 120);
	is_over(p);
	trace_replay__begin(p, 4, 4);
	is_over(p);
}

/* The file has another name by now, and another file its own. */
static void the_file_is_the_one_that_is_read(void **state)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;
	FILE *other;

	write_span(w, 0, 100, TRACE_KIND_QUERY);
	assert_int_equal(trace_writer__finish(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	read_to_the_end(r);
	assert_int_equal(unlink(temporary), 0);
	other = fopen(temporary, "we");
	assert_int_equal(fclose(other), 0);
	assert_int_equal(trace_replay__new(r, &p), 0);
	trace_replay__begin(p, 0, 0);
	next_is(p, 100);
	is_over(p);
}

static void a_file_that_became_shorter_ends_early(void **state)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;

	write_span(w, 0, 100, TRACE_KIND_QUERY);
	assert_int_equal(trace_writer__flush(w), 0);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	read_to_the_end(r);
	assert_int_equal(trace_replay__new(r, &p), 0);
	assert_int_equal(truncate(temporary, 60), 0);
	trace_replay__begin(p, 0, 0);
	is_over(p);
}

static void what_cannot_seek_cannot_be_read_twice(void **state)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_replay *p = NULL;
	char command[64], path[32];
	FILE *pipe;

	assert_int_equal(trace_writer__finish(w), 0);
	snprintf(command, sizeof(command), "cat %s", temporary);
	pipe = popen(command, "re");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(pipe));
	assert_int_equal(trace_reader__open(path, &r, NULL), 0);
	assert_int_equal(trace_replay__new(r, &p), -EINVAL);
	read_to_the_end(r);
	pclose(pipe);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, temporary_make, temporary_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(spans_come_again_as_far_as_they_were_read),
		TEST(chunks_of_other_processes_are_left_out),
		TEST(the_file_is_the_one_that_is_read),
		TEST(a_file_that_became_shorter_ends_early),
		TEST(what_cannot_seek_cannot_be_read_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
