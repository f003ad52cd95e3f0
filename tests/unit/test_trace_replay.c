// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/replay.h"

#include "test.h"
#include "../fixtures/temporary.h"
#include "../fixtures/spans.h"
#include "../fixtures/trace_dump.h"
#include "trace/writer.h"
#include "trace/reader.h"

static struct trace_writer *begin(uint32_t n_processes)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	struct trace_writer *w = NULL;
	uint32_t id;

	unlink(temporary);
	must(trace_writer__open(temporary, &info, &w), trace_writer__intern(w, "typeck", &id));
	for (uint32_t i = 0; i < n_processes; i++) {
		const struct trace_process p = {.index = i, .pid = 100 + i};

		assert_int_equal(trace_writer__process(w, &p), 0);
	}
	return w;
}

/* A span that can be told by its start. */
static void write_span(struct trace_writer *w, uint32_t process, uint64_t start, uint8_t kind)
{
	const struct trace_span span = {.process = process,
					.tid = process + 1,
					.start_ns = start,
					.end_ns = start + 5,
					.kind = kind,
					.invocation = TRACE_NO_INVOCATION};

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

TEST_CASE_WITH(spans_come_again_as_far_as_they_were_read, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;
	struct trace_span span;

	write_span(w, 0, 100, TRACE_KIND_QUERY);
	write_span(w, 0, 110, TRACE_KIND_ACTIVITY);
	must(trace_writer__flush(w), trace_reader__open(temporary, &r, NULL),
	     trace_replay__new(r, &p));
	trace_replay__begin(p, 0, 0);
	is_over(p);
	read_to_the_end(r);
	write_span(w, 0, 120, TRACE_KIND_QUERY);
	assert_int_equal(trace_writer__flush(w), 0);
	for (int i = 0; i < 2; i++) {
		trace_replay__begin(p, 0, 0);
		next_is(p, 100);
		assert_int_equal(trace_replay__next(p, &span), 1);
		assert_struct(span, start_ns, 110, kind, TRACE_KIND_ACTIVITY);
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

TEST_CASE_WITH(chunks_of_other_processes_are_left_out, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin(4);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;

	for (uint32_t i = 0; i < 4; i++) {
		write_span(w, i, 100 + 10 * i, TRACE_KIND_QUERY);
		assert_int_equal(trace_writer__flush(w), 0);
	}
	must(trace_writer__finish(w), trace_reader__open(temporary, &r, NULL));
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
TEST_CASE_WITH(the_file_is_the_one_that_is_read, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;
	FILE *other;

	write_span(w, 0, 100, TRACE_KIND_QUERY);
	must(trace_writer__finish(w), trace_reader__open(temporary, &r, NULL));
	read_to_the_end(r);
	assert_int_equal(unlink(temporary), 0);
	other = fopen(temporary, "we");
	must(fclose(other), trace_replay__new(r, &p));
	trace_replay__begin(p, 0, 0);
	next_is(p, 100);
	is_over(p);
}

TEST_CASE_WITH(a_file_that_became_shorter_ends_early, temporary_make, temporary_remove)
{
	_trace_writer_ struct trace_writer *w = begin(1);
	_trace_reader_ struct trace_reader *r = NULL;
	_trace_replay_ struct trace_replay *p = NULL;

	write_span(w, 0, 100, TRACE_KIND_QUERY);
	must(trace_writer__flush(w), trace_reader__open(temporary, &r, NULL));
	read_to_the_end(r);
	must(trace_replay__new(r, &p), truncate(temporary, 60));
	trace_replay__begin(p, 0, 0);
	is_over(p);
}

TEST_CASE_WITH(what_cannot_seek_cannot_be_read_twice, temporary_make, temporary_remove)
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

/* ---- Reader follow --------------------------------------------------------------------------- */

/* Tests trace/reader.c on a file that is still being written. */

#define N_SPANS 60

/* A complete file with names, spans and processes in several chunks each; the caller frees it. */
static uint8_t *whole_file(struct rng *rng, size_t *size)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	_free_ struct spans *s = spans_new(rng, N_SPANS, 2, 20);
	_trace_writer_ struct trace_writer *w = NULL;
	char text[32];
	uint32_t id;

	unlink(temporary);
	assert_int_equal(trace_writer__open(temporary, &info, &w), 0);
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "query_%u", i);
		assert_int_equal(trace_writer__intern(w, text, &id), 0);
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct trace_process p = {.index = i, .pid = 100 + i, .command = text};

		assert_int_equal(trace_writer__process(w, &p), 0);
	}
	for (uint32_t i = 0; i < s->n; i++) {
		assert_int_equal(trace_writer__span(w, &s->at[i]), 0);
		if (i % 20 == 10)
			assert_int_equal(trace_writer__flush(w), 0);
	}
	assert_int_equal(trace_writer__finish(w), 0);
	return slurp(temporary, size);
}

/* Write bytes `from` to `to` to the file, which is truncated if `from` is 0. */
static void grow(const uint8_t *bytes, size_t from, size_t to)
{
	FILE *f = fopen(temporary, from ? "ae" : "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes + from, 1, to - from, f), to - from);
	assert_int_equal(fclose(f), 0);
}

static uint64_t read_spans(struct trace_reader *r)
{
	struct trace_item item;
	uint64_t n = 0;

	do {
		assert_int_equal(trace_reader__next(r, &item), 0);
		n += item.kind == TRACE_ITEM_SPAN;
	} while (item.kind != TRACE_ITEM_END);
	return n;
}

TEST_GROUP(temporary_make, temporary_remove)

TEST_CASE(a_file_is_followed_as_it_grows)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_free_ uint8_t *bytes = NULL;
	struct rng rng = rng_new();
	uint64_t spans = 0, all;
	size_t size, at;

	bytes = whole_file(&rng, &size);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	all = read_spans(r);
	assert_true(all >= N_SPANS);
	trace_reader__free(take_ptr(r));
	/* The header and INFO chunk: a shorter file is not a trace. */
	at = 80;
	grow(bytes, 0, at);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	for (;;) {
		size_t to = at + 1 + rng_below(&rng, 40);

		spans += read_spans(r);
		if (at == size)
			break;
		assert_false(trace_reader__ended(r));
		grow(bytes, at, to < size ? to : size);
		at = to < size ? to : size;
		assert_true(trace_reader__resume(r));
	}
	assert_int_equal(spans, all);
	assert_int_equal(trace_reader__stats(r).processes, 2);
	assert_true(trace_reader__ended(r));
	assert_false(trace_reader__resume(r));
}

TEST_CASE(a_damaged_trace_is_not_followed)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_free_ uint8_t *bytes = NULL;
	struct rng rng = rng_new();
	size_t size;

	bytes = whole_file(&rng, &size);
	bytes[size / 2] ^= 1;
	grow(bytes, 0, size);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	read_spans(r);
	assert_true(trace_reader__stats(r).damaged);
	assert_false(trace_reader__ended(r));
	assert_false(trace_reader__resume(r));
}

TEST_MAIN(NULL, NULL)
