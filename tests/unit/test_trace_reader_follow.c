// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests trace/reader.c on a file that is still being written. */
#include "trace/reader.h"

#include "test.h"
#include "../fixtures/spans.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"
#include "trace/writer.h"

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

static void a_file_is_followed_as_it_grows(void **state)
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

static void a_damaged_trace_is_not_followed(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_followed_as_it_grows),
		cmocka_unit_test(a_damaged_trace_is_not_followed),
	};

	return cmocka_run_group_tests(tests, temporary_make, temporary_remove);
}
