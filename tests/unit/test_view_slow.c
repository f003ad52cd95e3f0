// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/slow.h"

#include "test.h"
#include "../fixtures/terminal.h"
#include "view/screen.h"

#define MS 1000000ull

static struct trace_process process = {.pid = 4711, .crate = (char *)"syn"};

static struct trace_span span_of(uint64_t ns)
{
	return (struct trace_span){
		.start_ns = 1000 * MS, .end_ns = 1000 * MS + ns, .kind = TRACE_KIND_QUERY};
}

/* The self time is half of the interval. */
static void check_line(const struct trace_span *s, uint64_t probe_ns, uint64_t off_ns,
		       const char *want)
{
	const struct trace_times times = {.self_ns = (s->end_ns - s->start_ns) / 2,
					  .probe_ns = probe_ns,
					  .self_probe_ns = probe_ns,
					  .off_ns = off_ns};
	char got[256] = "";
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(slow_print(f, f, s, &times, &process, "typeck", NULL), 0);
	rewind(f);
	assert_true(fread(got, 1, sizeof(got) - 1, f) > 0);
	fclose(f);
	assert_string_equal(got, want);
}

TEST_CASE(a_self_time_is_zero_or_unknown)
{
	static const uint64_t self_ns[] = {0, SLOW_WITH_QUERIES};
	static const char *const want[] = {"(self 0 ns)", "(with its queries)"};
	const struct trace_span s = span_of(100 * MS);

	for (int i = 0; i < 2; i++) {
		const struct trace_times times = {.self_ns = self_ns[i]};
		_free_ char *got = NULL;
		size_t len;
		FILE *f = open_memstream(&got, &len);

		assert_int_equal(slow_print(f, f, &s, &times, &process, "typeck", NULL), 0);
		fclose(f);
		assert_non_null(strstr(got, want[i]));
	}
}

TEST_CASE(an_interval_of_the_compiler_is_as_long_as_without_probes)
{
	struct trace_span s = span_of(100 * MS);
	struct trace_times times = {.probe_ns = 1};

	assert_int_equal(slow_ns(&s, &times), 100 * MS - 1);
	assert_true(slow_is_interval(&s));
	s.kind = TRACE_KIND_BLOCKED;
	assert_true(slow_is_interval(&s));
	s.kind = TRACE_KIND_OFF_CPU;
	assert_false(slow_is_interval(&s));
	s.kind = TRACE_KIND_HIT;
	assert_false(slow_is_interval(&s));
}

TEST_CASE(a_line_has_name_duration_and_place)
{
	struct trace_span s = span_of(100 * MS);

	check_line(&s, 0, 0,
		   "qprof-bpf: slow: typeck 100 ms (self 50.0 ms) in syn, process 4711\n");
	check_line(&s, 0, 30 * MS,
		   "qprof-bpf: slow: typeck 100 ms (self 50.0 ms, off-cpu 30.0 ms) in syn, "
		   "process 4711\n");
	check_line(&s, 10 * MS, 0,
		   "qprof-bpf: slow: typeck 90.0 ms (self 40.0 ms) in syn, process 4711\n");
}

TEST_CASE(a_line_marks_other_kinds_and_missing_ends)
{
	struct trace_span s = span_of(100 * MS);

	s.kind = TRACE_KIND_ACTIVITY;
	check_line(
		&s, 0, 0,
		"qprof-bpf: slow: typeck 100 ms (self 50.0 ms, activity) in syn, process 4711\n");
	s.flags = TRACE_SPAN_OPEN;
	check_line(&s, 0, 0,
		   "qprof-bpf: slow: typeck 100 ms (self 50.0 ms, still running) in syn, process "
		   "4711\n");
	s.flags = TRACE_SPAN_UNWOUND;
	check_line(&s, 0, 0,
		   "qprof-bpf: slow: typeck 100 ms (self 50.0 ms, unwound) in syn, process 4711\n");
}

TEST_CASE(a_crate_may_have_no_name_or_a_hostile_one)
{
	struct trace_span s = span_of(100 * MS);

	process.crate = NULL;
	check_line(&s, 0, 0,
		   "qprof-bpf: slow: typeck 100 ms (self 50.0 ms) in unknown, process 4711\n");
	process.crate = (char *)"a\033[2J";
	check_line(&s, 0, 0,
		   "qprof-bpf: slow: typeck 100 ms (self 50.0 ms) in a?[2J, process 4711\n");
	process.crate = (char *)"syn";
}

/* The line replaces cargo's progress bar, which is drawn again, and scrolls above the table. */
TEST_CASE(on_a_terminal_lines_scroll_above_the_table)
{
	struct trace_span s = span_of(100 * MS);
	const struct trace_times times = {.self_ns = 50 * MS};
	struct screen *screen;
	struct terminal t;

	setenv("TERM", "xterm", 1);
	terminal_open(&t, 24, 120);
	must(screen__new(t.out, &screen), screen__draw(screen, "one\ntwo\n", 2));
	fputs("    Building [=====================================>    ] 87/113: syn, quote, "
	      "proc-macro2, unicode-ident\r",
	      t.out);
	fflush(t.out);
	assert_int_equal(slow_print(t.out, t.out, &s, &times, &process, "typeck", NULL), 0);
	fputs("    Building", t.out);
	fflush(t.out);
	terminal_update(&t);
	assert_string_equal(terminal_row(&t, 0),
			    "qprof-bpf: slow: typeck 100 ms (self 50.0 ms) in syn, process 4711");
	assert_string_equal(terminal_row(&t, 1), "    Building");
	assert_string_equal(terminal_row(&t, 22), "one");
	assert_string_equal(terminal_row(&t, 23), "two");
	screen__free(screen);
	terminal_close(&t);
}

TEST_MAIN(NULL, NULL)
