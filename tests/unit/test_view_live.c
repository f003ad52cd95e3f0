// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>
#include <json-c/json.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_summary.h"
#include "../fixtures/terminal.h"
#include "analyze/sample_counts.h"
#include "base/writer_thread.h"
#include "view/top_now.h"
#include "view/live_rows.h"

#define SECOND 1000000000ull

static struct live_state state_at(uint64_t seconds, const struct summary *s)
{
	return (struct live_state){.now_ns = (100 + seconds) * SECOND,
				   .start_ns = 100 * SECOND,
				   .processes = 3,
				   .running = 1,
				   .summary = s,
				   .names = &sample_names};
}

/* Draw twice, with 10 more executions in between, and return the output. */
static char *two_intervals(enum live_mode mode)
{
	struct trace_losses losses = sample_losses();
	struct summary *s = sample_three();
	struct live_state state = state_at(2, s);
	struct live_view *v;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	must(live_view__new(out, mode, &v), live_view__draw(v, &state));
	for (int i = 0; i < 10; i++)
		sample_span(s, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	state = state_at(4, s);
	state.losses = &losses;
	assert_int_equal(live_view__draw(v, &state), 0);
	live_view__free(v);
	summary__free(s);
	fclose(out);
	return text;
}

/* Also on an output that is to be a terminal, and is none. */
TEST_CASE(blocks_follow_each_other)
{
	assert_shows(two_intervals(LIVE_BLOCKS), "@view/live_blocks.txt");
	assert_shows(two_intervals(LIVE_TERMINAL), "@view/live_blocks.txt");
	assert_shows(two_intervals(LIVE_NONE), "=");
}

TEST_CASE(json_is_one_object_per_line)
{
	_free_ char *text = two_intervals(LIVE_JSON);
	int lines = 0;

	assert_golden("view/live.json", text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		struct json_object *object = json_tokener_parse(line);

		assert_non_null(object);
		json_object_put(object);
	}
	assert_int_equal(lines, 2);
}

static void count(struct sample_counts *c, uint32_t label, int n)
{
	const struct trace_sample s = {.value = 2000000, .cause = TRACE_SAMPLE_CPU};

	for (int i = 0; i < n; i++) {
		if (label != TRACE_NO_STRING)
			sample_counts__entry(c, &(struct trace_stack){.kind = TRACE_STACK_QUERY,
								      .place = label});
		assert_int_equal(sample_counts__sample(c, &s), 0);
	}
}

/* The same, of a recording with nothing but samples. */
static char *two_sampled_intervals(enum live_mode mode)
{
	_summary_ struct summary *s = sample_three();
	struct live_state state = state_at(2, s);
	struct trace_tally running[] = {
		{.label = SAMPLE_TYPECK, .kind = TRACE_KIND_RESULTS_AT_LEAST, .events = 1000},
		{.label = SAMPLE_TYPECK, .kind = TRACE_KIND_RESULTS, .events = 20},
		{.label = SAMPLE_LAYOUT_OF, .kind = TRACE_KIND_RESULTS, .events = 7, .sum = 2},
	};
	struct live_results results = {.at = running, .n = N_OF(running), .rounds = 1};
	struct sample_counts counts = {};
	struct live_view *v;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	summary__set_unwatched(s);
	state.samples = &counts;
	state.results = &results;
	assert_int_equal(live_view__new(out, mode, &v), 0);
	count(&counts, SAMPLE_TYPECK, 3);
	count(&counts, TRACE_NO_STRING, 1);
	assert_int_equal(live_view__draw(v, &state), 0);
	count(&counts, SAMPLE_LAYOUT_OF, 998);
	state.now_ns += 2 * SECOND;
	running[0].events += 500;
	results.rounds++;
	assert_int_equal(live_view__draw(v, &state), 0);
	/* All is over, and in the summary. Between two rounds, rates stay. */
	state.now_ns += SECOND / 10;
	state.running = 0;
	results.n = 0;
	for (uint32_t i = 0; i < N_OF(running); i++) {
		running[i].kind = TRACE_KIND_RESULTS;
		for (uint32_t process = 0; process < 3; process++) {
			running[i].process = process;
			assert_int_equal(summary__tally(s, &running[i]), 0);
			running[i].events = running[i].sum = 0;
		}
	}
	assert_int_equal(live_view__draw(v, &state), 0);
	live_view__free(v);
	sample_counts__destroy(&counts);
	fclose(out);
	return text;
}

TEST_CASE(samples_alone_have_rows)
{
	assert_shows(two_sampled_intervals(LIVE_BLOCKS), "@view/live_sampled.txt");
	assert_shows(two_sampled_intervals(LIVE_JSON), "@view/live_sampled.json");
}

/* Rates cover the time since the last drawn frame, and the last frame is always drawn. */
TEST_CASE(frames_are_left_out_while_nothing_reads)
{
	_summary_ struct summary *s = sample_three();
	struct live_state live = state_at(1, s);
	_writer_thread_ struct writer_thread *w = NULL;
	_live_view_ struct live_view *v = NULL;
	_free_ char *text = calloc(1, 1 << 24);
	size_t len = 0;
	ssize_t n;
	int fds[2];
	FILE *out;

	assert_int_equal(pipe(fds), 0);
	out = fdopen(fds[1], "w");
	must(writer_thread__new(fds[1], &w), live_view__new(out, LIVE_JSON, &v));
	live_view__write_by(v, w);
	for (int i = 0; i < 20000; i++)
		assert_int_equal(live_view__draw(v, &live), 0);
	assert_true(live_view__left_out(v) > 0);
	assert_true(live_view__left_out(v) < 20000);
	live = state_at(9, s);
	live.last = true;
	assert_int_equal(live_view__draw(v, &live), 0);
	/* Bytes are waiting a little longer than there are any to read. */
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	while (writer_thread__waiting(w)) {
		n = read(fds[0], text + len, 65536);
		len += n > 0 ? (size_t)n : 0;
	}
	fclose(out);
	while ((n = read(fds[0], text + len, 65536)) > 0)
		len += (size_t)n;
	close(fds[0]);
	assert_contains(text, "\"elapsed_ns\":9000000000,");
	assert_int_equal(text[len - 1], '\n');
}

TEST_CASE(the_table_fits_the_terminal)
{
	static const int sizes[][2] = {{24, 80}, {10, 40}, {5, 30}, {50, 120}, {24, 80}};
	_summary_ struct summary *s = sample_three();
	struct live_view *v;
	struct terminal t;

	setenv("TERM", "xterm", 1);
	terminal_open(&t, 24, 80);
	assert_int_equal(live_view__new(t.out, LIVE_TERMINAL, &v), 0);
	for (size_t i = 0; i < N_OF(sizes); i++) {
		struct live_state now = state_at(i + 1, s);

		terminal_resize(&t, sizes[i][0], sizes[i][1]);
		assert_int_equal(live_view__draw(v, &now), 0);
		terminal_update(&t);
		if (sizes[i][0] >= 10)
			assert_contains(terminal_row(&t, t.rows - 3), "typeck");
		assert_contains(terminal_row(&t, t.bottom + 1), "processes 3");
	}
	assert_string_equal(terminal_row(&t, 22), "layout_of               2       0  2.00 us  "
						  "2.00 us  1.00 us  1.50 us");
	live_view__restore(v);
	live_view__restore(v);
	terminal_update(&t);
	assert_int_equal(t.bottom, 23);
	assert_string_equal(terminal_row(&t, 22), "");
	live_view__free(v);
	live_view__free(NULL);
	terminal_close(&t);
}

static const struct top_nows nows = {
	.n = 2,
	.at = {{4713, "eval_to_allocation_raw", "a_crate::a_module::planted"},
	       {4711, "typeck", "it::has::ended"}},
};

/* What is drawn `times` at one moment, in which compilers are in `nows`. */
static char *drawn_with_now(enum live_mode mode, int times)
{
	_summary_ struct summary *s = sample_three();
	struct live_state state = state_at(times == 1, s);
	_live_view_ struct live_view *v = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	state.now = &nows;
	assert_int_equal(live_view__new(out, mode, &v), 0);
	while (times--)
		assert_int_equal(live_view__draw(v, &state), 0);
	fclose(out);
	return text;
}

TEST_CASE(no_time_between_draws_is_no_rate)
{
	assert_shows(drawn_with_now(LIVE_JSON, 2), "\"events_per_s\":0");
}

TEST_CASE(what_compilers_are_in_is_shown)
{
	assert_shows(drawn_with_now(LIVE_BLOCKS, 1),
		     "lost 0\n  rustc --crate-name x  eval_to_allocation_raw("
		     "a_crate::a_module::planted)\n  query",
		     "!it::has::ended");
	assert_shows(drawn_with_now(LIVE_JSON, 1),
		     ",\"now\":[{\"pid\":4713,\"crate\":\"rustc --crate-name x\","
		     "\"name\":\"eval_to_allocation_raw\","
		     "\"event\":\"a_crate::a_module::planted\",\"function\":null}],\"queries\":[");
}

/* Lines for it are taken from the rows of the table, a quarter of them at most. */
TEST_CASE(on_a_terminal_it_is_above_the_table)
{
	static const int sizes[][2] = {{24, 80}, {14, 50}, {6, 30}};
	_summary_ struct summary *s = sample_three();
	struct live_view *v;
	struct terminal t;

	setenv("TERM", "xterm", 1);
	terminal_open(&t, 24, 80);
	assert_int_equal(live_view__new(t.out, LIVE_TERMINAL, &v), 0);
	for (size_t i = 0; i < N_OF(sizes); i++) {
		struct live_state state_now = state_at(i + 1, s);
		bool fits = sizes[i][0] >= 14;

		state_now.now = &nows;
		terminal_resize(&t, sizes[i][0], sizes[i][1]);
		assert_int_equal(live_view__draw(v, &state_now), 0);
		terminal_update(&t);
		assert_contains(terminal_row(&t, t.bottom + 1), "processes 3");
		assert_int_equal(strstr(terminal_row(&t, t.bottom + 2), "planted)") != NULL, fits);
		assert_contains(terminal_row(&t, t.bottom + (fits ? 3 : 2)), "query");
	}
	live_view__free(v);
	terminal_close(&t);
}

#define END_OF_DRAWING "<end>"

/* All bytes that one draw sends to a terminal. */
static char *raw_draw(void)
{
	struct summary *s = sample_three();
	struct live_state now = state_at(1, s);
	struct live_view *v;
	struct terminal t;
	char *bytes = calloc(1, 65536);

	terminal_open(&t, 24, 80);
	must(live_view__new(t.out, LIVE_TERMINAL, &v), live_view__draw(v, &now));
	/* One read may return a part of what was written. */
	fputs(END_OF_DRAWING, t.out);
	fflush(t.out);
	for (size_t n = 0; !strstr(bytes, END_OF_DRAWING);) {
		ssize_t now_read = read(t.master, bytes + n, 65535 - n);

		assert_true(now_read > 0);
		n += (size_t)now_read;
	}
	live_view__free(v);
	terminal_close(&t);
	summary__free(s);
	return bytes;
}

TEST_CASE(no_color_and_dumb_terminals_are_respected)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	/* A query's name would erase the screen. */
	assert_shows(raw_draw(), "\033[1m", "!\033[2J");
	setenv("NO_COLOR", "1", 1);
	assert_shows(raw_draw(), "\033[", "!\033[1m");
	setenv("TERM", "dumb", 1);
	assert_shows(raw_draw(), "!\033", "typeck");
}

/* ---- Live now -------------------------------------------------------------------------------- */

/* Processes with pids 10, 11 and so on; those with an odd one have ended. */
static struct summary *compilers(const char *const *crates)
{
	struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; crates[i]; i++) {
		const struct trace_process p = {.index = i,
						.pid = 10 + i,
						.end_ns = i % 2,
						.crate = (char *)crates[i],
						.crate_type = (char *)"lib"};

		assert_int_equal(summary__process(s, &p), 0);
	}
	return s;
}

static char *lines_of(const struct live_now *found, size_t n, size_t columns, const char *indent)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(live_now__print(found, n, columns, indent, out), 0);
	fclose(out);
	return text;
}

TEST_CASE(lines_come_in_the_order_of_the_compilers)
{
	static const char *const crates[] = {"serde", "gone",
					     "a_crate_with_a_name_that_is_too_long", "gone", NULL};
	static const struct top_nows nows = {
		.n = 4,
		.at = {{12, "codegen_module",
			"x-cgu.0\x1e"
			"12"},
		       {99, "typeck", "another::machine"},
		       {11, "typeck", "gone::x"},
		       {10, "typeck", "serde::de::value::\033[2J"}},
	};
	struct live_now found[TOP_NOW_MAX];
	_summary_ struct summary *s = compilers(crates);

	assert_int_equal(live_now__find(NULL, s, found), 0);
	assert_int_equal(live_now__find(&nows, s, found), 2);
	assert_shows(lines_of(found, 2, 80, "  "),
		     "=  serde                     typeck(serde::de::value::?[2J)\n"
		     "  a_crate_with_a_name_th..  codegen_module(x-cgu.0, 12)\n");
	assert_shows(lines_of(found, 2, 30, ""), "=serde                     type\n"
						 "a_crate_with_a_name_th..  code\n");
}

TEST_CASE(more_compilers_than_are_told_of_have_no_line)
{
	const char *crates[2 * TOP_NOW_MAX + 3] = {NULL};
	struct top_nows nows = {.n = TOP_NOW_MAX};
	struct live_now found[TOP_NOW_MAX];
	_summary_ struct summary *s = NULL;

	for (uint32_t i = 0; i < 2 * TOP_NOW_MAX + 2; i++)
		crates[i] = "x";
	for (uint32_t i = 0; i < TOP_NOW_MAX; i++)
		nows.at[i] = (struct top_now){.pid = 10 + 2 * i, .name = "typeck"};
	s = compilers(crates);
	assert_int_equal(live_now__find(&nows, s, found), TOP_NOW_MAX);
	assert_int_equal(found[TOP_NOW_MAX - 1].process->pid, 10 + 2 * (TOP_NOW_MAX - 1));
}

TEST_MAIN(NULL, NULL)
