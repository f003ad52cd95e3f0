// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/live_output.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/rows.h"
#include "../fixtures/sample_summary.h"

struct summary_calls {
	unsigned int n;
	int err;
};

static int write_summary(void *ctx, FILE *to)
{
	struct summary_calls *calls = ctx;

	calls->n++;
	fputs("the summary\n", to);
	return calls->err;
}

/* Both ends of a pipe. */
static FILE *pipe_to(int *reader)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*reader = ends[0];
	return fdopen(ends[1], "w");
}

static void finish(struct live_output *live, struct summary_calls *calls, int err, struct output *o)
{
	output_begin(o);
	assert_int_equal(live_output__finish(live, calls ? write_summary : NULL, calls), err);
	output_end(o);
	live_output__destroy(live);
}

TEST_CASE(the_summary_is_written_when_the_end_returns)
{
	struct summary_calls calls = {0};
	struct live_output live = {0};
	_output_ struct output o;
	char text[32] = "";
	int reader;

	live.to = pipe_to(&reader);
	assert_int_equal(live_output__open(&live, LIVE_NONE, true), 0);
	finish(&live, &calls, 0, &o);
	fclose(live.to);
	assert_true(read(reader, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "the summary\n");
	assert_string_equal(o.text[1], "");
	close(reader);
}

static bool do_not_wait(void *ctx, int fd)
{
	unsigned int *n = ctx;

	++*n;
	return false;
}

TEST_CASE(a_reader_that_is_not_waited_for_is_an_error)
{
	unsigned int n_waits = 0;
	struct summary_calls calls = {0};
	struct live_output live = {.wait = do_not_wait, .wait_ctx = &n_waits};
	_output_ struct output o;
	int reader;

	live.to = pipe_to(&reader);
	assert_int_equal(live_output__open(&live, LIVE_NONE, true), 0);
	finish(&live, &calls, -ETIME, &o);
	fclose(live.to);
	close(reader);
	assert_int_equal(n_waits, 1);
	assert_int_equal(calls.n, 0);
	assert_contains(o.text[1], "error: not all of the output was written");
}

TEST_CASE(a_view_that_fails_is_reported_once_and_has_no_summary)
{
	struct summary *s = sample_three();
	const struct live_state view = {
		.now_ns = 2, .start_ns = 1, .summary = s, .names = &sample_names, .last = true};
	struct summary_calls calls = {0};
	struct live_output live = {.to = fopen("/dev/full", "w")};
	_output_ struct output o;

	assert_int_equal(live_output__open(&live, LIVE_BLOCKS, true), 0);
	live_output__draw(&live, &view);
	finish(&live, &calls, -ENOSPC, &o);
	assert_int_equal(calls.n, 0);
	assert_contains(o.text[1], "error: cannot show what is recorded: No space left on device");
	fclose(live.to);
	summary__free(s);
}

TEST_CASE(a_stream_without_a_descriptor_is_written_to)
{
	static const struct {
		const char *name;
		bool summary;
		int err;
		const char *text, *said;
	} rows[] = {
		{"a summary", true, 0, "the summary\n", ""},
		{"none", false, 0, "", ""},
		{"one that fails", true, -EIO, "the summary\n",
		 "cannot print the summary: Input/output error"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct summary_calls calls = {.err = rows[i].err};
		struct live_output live = {0};
		_output_ struct output o;
		_free_ char *text = NULL;
		size_t len;

		live.to = open_memstream(&text, &len);
		assert_int_equal(live_output__open(&live, LIVE_NONE, rows[i].summary), 0);
		finish(&live, rows[i].summary ? &calls : NULL, rows[i].err, &o);
		fclose(live.to);
		row_text(rows[i].name, text, rows[i].text);
		row_equal(rows[i].name, !*o.text[1], !*rows[i].said);
		row_part(rows[i].name, o.text[1], rows[i].said);
	}
}

TEST_MAIN(NULL, NULL)
