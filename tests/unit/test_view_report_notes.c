// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/report_notes.h"
#include "view/report_rows.h"
#include "view/place_text.h"

#include "../fixtures/output.h"
#include "../fixtures/sample_summary.h"

typedef int report_fn(FILE *out, const struct summary *s, const struct trace_losses *losses,
		      const struct trace_texts *names, const struct report_options *opt);

static char *print(report_fn *fn, const struct summary *s, const struct report_options *opt)
{
	const struct trace_losses none = {};

	return printed_text(fn(out, s, &none, &sample_names, opt));
}

static void add_span(struct summary *s, uint32_t process, uint32_t tid, uint8_t kind, uint32_t id)
{
	const struct trace_span span = {.process = process,
					.tid = tid,
					.kind = kind,
					.label = SAMPLE_TYPECK,
					.invocation = id};

	assert_int_equal(summary__span(s, &span, &(struct trace_times){0}), 0);
}

TEST_CASE(reused_results_are_shown_by_process)
{
	_summary_ struct summary *s = sample_three();

	assert_shows(print(report_text, s, &(struct report_options){}), "!incremental", "count");
	add_span(s, 0, 1, TRACE_KIND_QUERY, 1999);
	add_span(s, 0, 1, TRACE_KIND_LOAD, TRACE_NO_INVOCATION);
	add_span(s, 1, 1, TRACE_KIND_LOAD, TRACE_NO_INVOCATION);
	add_span(s, 1, 1, TRACE_KIND_QUERY, 7);
	add_span(s, 1, 2, TRACE_KIND_QUERY, 300);
	assert_shows(print(report_text, s, &(struct report_options){}),
		     "\nincremental    pid  results  executed  loaded  neither\n"
		     "regex_syntax  4711    2,000         4       1    1,995\n"
		     "serde         4712        ?         3       0        ?\n"
		     "neither: unchanged, ",
		     "query             executed ", "  loaded\n");
	assert_shows(print(report_json, s, &(struct report_options){}),
		     ",\"incremental\":{\"executed\":4,\"loads\":1,\"loaded\":1,"
		     "\"results\":2000},\"queries\"",
		     ",\"incremental\":{\"executed\":3,\"loads\":1,\"loaded\":0,"
		     "\"results\":null},\"queries\"",
		     ",\"loaded\":1,\"loads\":2}");
}

/* A process with 2,000 results, of queries without probes. */
TEST_CASE(executions_without_probes_leave_open_what_was_reused)
{
	_summary_ struct summary *s = sample_one();

	add_span(s, 0, 1, TRACE_KIND_QUERY, 1999);
	add_span(s, 0, 1, TRACE_KIND_LOAD, TRACE_NO_INVOCATION);
	summary__set_unwatched(s);
	assert_shows(print(report_text, s, &(struct report_options){}),
		     "\nregex_syntax  4711    2,000         ?      ~1        ?\n",
		     "\nnot all queries have probes: ~ loaded includes loads that found nothing, ");
	assert_shows(print(report_json, s, &(struct report_options){}),
		     ",\"incremental\":{\"executed\":4,\"loads\":1,\"loaded\":null,"
		     "\"results\":2000},");
}

static bool is_unknown(const void *ctx, const char *name)
{
	return !strcmp(name, "<unknown>");
}

/* A query that was only loaded has no times of an execution. */
TEST_CASE(no_execution_has_no_mean)
{
	_summary_ struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	sample_process(s, 0, (char *)"regex_syntax", 0);
	add_span(s, 0, 1, TRACE_KIND_LOAD, TRACE_NO_INVOCATION);
	assert_shows(print(report_text, s, &(struct report_options){}),
		     "typeck         0   0 ns  0 ns     0.0     -    -  ");
}

TEST_CASE(callers_of_queries_without_probes_are_unknown)
{
	const struct sample_sums sums = {.total[TRACE_SAMPLE_CPU] = {1, 1000}};
	_summary_ struct summary *s = sample_one();
	struct report_options opt = {.query = is_unknown};
	struct pivot *c;

	must(summary__samples(s, 0, 7, 1, &sums), pivot__new(PIVOT_CALLERS, &c));
	opt.callers = c;
	assert_shows(print(report_text, s, &opt),
		     "executions of these queries were not recorded, and their callers are");
	summary__free(s);
	s = sample_one();
	assert_shows(print(report_text, s, &opt), "none of these queries was executed");
	pivot__free(c);
}

/* An end that was noticed late is an end. Off-CPU intervals are counted apart. */
TEST_CASE(an_upper_bound_is_not_an_unfinished_execution)
{
	static const struct trace_span spans[] = {
		{.end_ns = 5, .kind = TRACE_KIND_ACTIVITY, .flags = TRACE_SPAN_LEFT},
		{.end_ns = 6, .kind = TRACE_KIND_QUERY, .flags = TRACE_SPAN_LEFT},
		{.end_ns = 7, .kind = TRACE_KIND_OFF_CPU, .flags = TRACE_SPAN_LEFT},
		{.end_ns = 8, .kind = TRACE_KIND_ACTIVITY, .flags = TRACE_SPAN_OPEN},
	};
	_summary_ struct summary *s = sample_one();

	for (size_t i = 0; i < N_OF(spans); i++)
		assert_int_equal(summary__span(s, &spans[i], &(struct trace_times){0}), 0);
	assert_shows(print(report_text, s, &(struct report_options){}), "!*",
		     "\nintervals that may be shown too long, as their end was noticed late: 2\n",
		     "\ntimes off the CPU that may be shown too long, as their end was "
		     "noticed late: 1\n");
	sample_span(s, 0, SAMPLE_TYPECK, 1, 1, TRACE_SPAN_UNWOUND);
	assert_shows(print(report_text, s, &(struct report_options){}), "typeck *",
		     "\n* executions left by unwinding or never ended: 1;");
}

TEST_CASE(sorting_by_cpu_time_ignores_waiting)
{
	static const struct trace_span span = {.end_ns = 9000000, .label = SAMPLE_LAYOUT_OF};
	static const struct trace_times times = {
		.self_ns = 9000000, .off_ns = 8900000, .self_off_ns = 8900000};
	struct report_options opt = {.sort = REPORT_SORT_CPU};
	_summary_ struct summary *s = sample_one();

	assert_int_equal(summary__span(s, &span, &times), 0);
	assert_shows(print(report_text, s, &opt),
		     "  on-cpu  cpu %  off-cpu     self     mean      max\ntypeck ",
		     "  9.00 ms   102 us    9.3  8.90 ms  9.00 ms  3.00 ms  9.00 ms\n");
	assert_shows(print(report_json, s, &opt), "\"self_cpu_ns\":102000,",
		     "\"self_off_ns\":8900000,");
}

TEST_CASE(names_cannot_move_the_cursor)
{
	struct begun_note note = {};

	assert_shows(printed_text((begun_note__add(&note, out, "a\033[2J"), 0)),
		     "=began before the recording: a?[2J");
}

/* ---- Report rows ----------------------------------------------------------------------------- */

TEST_CASE(each_extra_is_a_member_of_a_row)
{
	const struct summary_row row = {.samples.self[TRACE_SAMPLE_CPU] = {1, 2},
					.sampled_error_ns = 3,
					.samples.total[TRACE_SAMPLE_CPU] = {100, 4},
					.sampled_total_error_ns = 5,
					.sampled_max_ns = 6,
					.samples.self[TRACE_SAMPLE_OFF_CPU] = {100, 7},
					.samples.self[TRACE_SAMPLE_FAULT] = {100, 8},
					.samples.total[TRACE_SAMPLE_FAULT] = {100, 9},
					.self_off_ns = 10,
					.off_ns = 11,
					.hits = 12,
					.blocked_ns = 13,
					.load_ns = 14,
					.hashing_ns = 15,
					.loaded = 16,
					.loads = 17};

	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		assert_int_equal(report_extra_of(&row, i), i + 1);
		assert_non_null(report_extras[i].key);
	}
}

/* ---- Place text ------------------------------------------------------------------------------ */

TEST_CASE(sources_of_dependencies_are_named_by_package)
{
	static const char *const cases[][2] = {
		{"src/lib.rs:1", "src/lib.rs:1"},
		{"tool/src/main.rs:1", "tool/src/main.rs:1"},
		{"/r/registry/src/index.crates.io-1/a-0.1.0/src/b/c.rs:7", "a-0.1.0/src/b/c.rs:7"},
		{"/rustc/1f/library/core/src/num/mod.rs:7", "core/src/num/mod.rs:7"},
		{"/u/.cargo/git/checkouts/a-01/2f/src/lib.rs:7", "a-01/2f/src/lib.rs:7"},
		{"/usr/share/cargo/registry/a-1.0.0/src/lib.rs:7", "a-1.0.0/src/lib.rs:7"},
		{"/r/lib/rustlib/src/rust/library/core/src/num/mod.rs:7", "core/src/num/mod.rs:7"},
		{"/registry/src/x.rs:7", "/registry/src/x.rs:7"},
		{"/home/u/mylib/src/lib.rs:3", "/home/u/mylib/src/lib.rs:3"},
		{"/src/lib.rs:1", "/src/lib.rs:1"},
		{"/r/a-0.1.0/build.rs:1", "/r/a-0.1.0/build.rs:1"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(place_in_package(cases[i][0]), cases[i][1]);
}

TEST_MAIN(NULL, NULL)
