// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/measureme.h"

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/spans.h"
#include "import/measureme.h"
#include "import/mm_depths.h"
#include "qprof/measureme_format.h"
#include "trace/writer.h"

#define N_LABELS 30

static const char *const kinds[] = {"Query", "QueryBlocked", "LLVM Pass"};

static struct trace_writer *open_trace(void)
{
	const struct trace_info info = {.tool = "t", .kernel = "k", .host = "h"};
	struct trace_writer *w = NULL;
	char text[16];
	uint32_t id;
	uint8_t kind;

	directory_files(true);
	assert_int_equal(trace_writer__open(directory_path("t.qpt"), &info, &w), 0);
	for (uint32_t i = 0; i < N_LABELS; i++) {
		snprintf(text, sizeof(text), "q%u", i);
		assert_int_equal(trace_writer__intern(w, text, &id), 0);
	}
	assert_int_equal(trace_writer__kind(w, kinds[2], &kind), 0);
	assert_int_equal(kind, TRACE_KIND_OTHER);
	return w;
}

static void add_process(struct trace_writer *w, uint32_t index, uint32_t pid, const char *crate)
{
	const struct trace_process p = {.index = index,
					.pid = pid,
					.exit_status = TRACE_EXIT_UNKNOWN,
					.command = (char *)"rustc",
					.crate = (char *)crate};

	assert_int_equal(trace_writer__process(w, &p), 0);
}

static void add_span(struct trace_writer *w, uint32_t process)
{
	const struct trace_span s = {.process = process, .start_ns = 70, .end_ns = 80, .tid = 3};

	assert_int_equal(trace_writer__span(w, &s), 0);
}

static void close_trace(struct trace_writer *w)
{
	assert_int_equal(trace_writer__finish(w), 0);
	trace_writer__free(w);
}

static struct measureme_sums sums;

static int export(bool force)
{
	_trace_reader_ struct trace_reader *survey = NULL;
	_trace_reader_ struct trace_reader *r = NULL;

	assert_int_equal(trace_reader__open(directory_path("t.qpt"), &survey, NULL), 0);
	assert_int_equal(trace_reader__open(directory_path("t.qpt"), &r, NULL), 0);
	return export_measureme(survey, r, directory_fd, directory, force, UINT64_MAX, &sums);
}

static bool exists(const char *name)
{
	return !access(directory_path(name), F_OK);
}

/* The profile has all spans of the process, in the order of each thread. */
static void compare(const struct spans *s, uint32_t process, struct mm_reader *r)
{
	uint64_t n = mm_reader__n_events(r), base = UINT64_MAX;
	struct mm_event *events = calloc(n + 1, sizeof(*events));
	__cleanup(mm_depths__destroy) struct mm_depths d = {0};
	uint64_t seen = 0;

	assert_int_equal(mm_reader__events(r, 0, n, events), 0);
	assert_int_equal(mm_depths__find(&d, r), 0);
	assert_int_equal(d.backwards + d.out_of_order + d.overlapping, 0);
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->at[i].process == process && s->at[i].start_ns < base)
			base = s->at[i].start_ns;
	}
	for (uint32_t tid = 1000; tid < 1003; tid++) {
		uint64_t at = 0;

		for (uint32_t i = 0; i < s->n; i++) {
			const struct trace_span *span = &s->at[i];
			char label[16];

			if (span->process != process || span->tid != tid)
				continue;
			while (at < n && events[at].thread != tid)
				at++;
			assert_true(at < n);
			snprintf(label, sizeof(label), "q%u", span->label);
			assert_string_equal(mm_reader__label(r, events[at].id), label);
			assert_string_equal(mm_reader__kind(r, events[at].kind),
					    kinds[span->kind == TRACE_KIND_OTHER ? 2
						  : span->kind			 ? 1
										 : 0]);
			assert_int_equal(events[at].start, span->start_ns - base);
			assert_int_equal(events[at].end, span->end_ns - base);
			assert_int_equal(d.depth[at], span->depth);
			seen++;
			at++;
		}
	}
	assert_int_equal(seen, n);
	free(events);
}

static void a_trace_comes_back(void **state)
{
	struct rng rng = rng_new();
	struct spans *s = spans_new(&rng, 12000, 4, N_LABELS);
	struct trace_writer *w = open_trace();

	for (uint32_t i = 0; i < 4; i++)
		add_process(w, i, 100 + i, "c");
	for (uint32_t i = 0; i < s->n; i++) {
		static const uint8_t numbers[] = {0, 0, TRACE_KIND_BLOCKED, TRACE_KIND_OTHER};

		s->at[i].kind = numbers[rng_below(&rng, 4)];
		assert_int_equal(trace_writer__span(w, &s->at[i]), 0);
	}
	close_trace(w);
	assert_int_equal(export(false), 0);
	assert_int_equal(sums.files, 4);
	assert_int_equal(sums.events, s->n);
	assert_int_equal(sums.adjusted, 0);
	assert_int_equal(directory_files(false), 5);
	for (uint32_t i = 0; i < 4; i++) {
		_mm_reader_ struct mm_reader *r = NULL;
		const char *why;
		char name[64];

		snprintf(name, sizeof(name), "c-0000%u.mm_profdata", 100 + i);
		assert_int_equal(mm_reader__open(directory_path(name), &r, &why), 0);
		compare(s, i, r);
	}
	free(s);
}

static void files_have_names_as_rustc_gives_them(void **state)
{
	struct trace_writer *w = open_trace();
	char longest[300];

	memset(longest, 'x', sizeof(longest));
	longest[299] = '\0';
	memcpy(longest + 199, "\xc3\xa9", 2);
	add_process(w, 0, 4711, "regex_syntax");
	add_process(w, 1, 4711, "regex_syntax"); /* after an exec, or a reused pid */
	add_process(w, 2, 123456789, NULL);
	add_process(w, 3, 5, "../a.b c");
	add_process(w, 4, 6, "");
	add_process(w, 5, 7, "no_span");
	add_process(w, 6, 8, longest);
	for (uint32_t i = 0; i < 7; i++) {
		if (i != 5)
			add_span(w, i);
	}
	close_trace(w);
	assert_int_equal(export(false), 0);
	assert_int_equal(sums.files, 6);
	assert_int_equal(sums.empty, 1);
	assert_true(exists("regex_syntax-0004711.mm_profdata"));
	assert_true(exists("regex_syntax-0004711-1.mm_profdata"));
	assert_true(exists("unknown-crate-123456789.mm_profdata"));
	assert_true(exists("___a_b_c-0000005.mm_profdata"));
	assert_true(exists("unknown-crate-0000006.mm_profdata"));
	strcpy(longest + 199, "-0000008.mm_profdata");
	assert_true(exists(longest));
	assert_int_equal(directory_files(false), 7);
}

static void nothing_is_overwritten_unless_forced(void **state)
{
	struct trace_writer *w = open_trace();
	_output_ struct output o = {};

	add_process(w, 0, 1, "first");
	add_process(w, 1, 2, "there");
	add_span(w, 0);
	add_span(w, 1);
	close_trace(w);
	output_write(directory_path("there-0000002.mm_profdata"), "precious");
	assert_int_equal(CAPTURED(&o, export(false)), -EEXIST);
	assert_contains(o.text[1], "there-0000002.mm_profdata exists already; choose another");
	assert_false(exists("first-0000001.mm_profdata"));
	assert_int_equal(directory_files(false), 2);
	assert_int_equal(export(true), 0);
	assert_int_equal(directory_files(false), 3);
}

static void times_start_with_the_process(void **state)
{
	struct trace_process p = {.pid = 1, .start_ns = 60, .exit_status = TRACE_EXIT_UNKNOWN};
	struct trace_writer *w = open_trace();
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event e;
	const char *why;

	assert_int_equal(trace_writer__process(w, &p), 0);
	add_span(w, 0);
	close_trace(w);
	assert_int_equal(export(false), 0);
	assert_int_equal(
		mm_reader__open(directory_path("unknown-crate-0000001.mm_profdata"), &r, &why), 0);
	assert_int_equal(mm_reader__events(r, 0, 1, &e), 0);
	assert_int_equal(e.start, 10);
	assert_int_equal(e.end, 20);
	assert_int_equal(e.thread, 3);
	assert_int_equal(e.id, 0);
	assert_string_equal(mm_reader__metadata(r)->process.command, "");
}

static void an_interval_that_does_not_nest_is_counted(void **state)
{
	struct trace_writer *w = open_trace();
	struct trace_span s = {.start_ns = 75, .end_ns = 90, .tid = 3};

	add_process(w, 0, 1, "x");
	add_span(w, 0);
	assert_int_equal(trace_writer__span(w, &s), 0);
	close_trace(w);
	assert_int_equal(export(false), 0);
	assert_int_equal(sums.adjusted, 1);
	assert_int_equal(sums.events, 2);
}

/* measureme has no kind for them. */
static void off_cpu_is_left_out(void **state)
{
	struct trace_writer *w = open_trace();
	struct trace_span s = {.start_ns = 71, .end_ns = 75, .tid = 3, .kind = TRACE_KIND_OFF_CPU};

	add_process(w, 0, 1, "x");
	add_process(w, 1, 2, "only off");
	assert_int_equal(trace_writer__span(w, &s), 0);
	s.process = 1;
	assert_int_equal(trace_writer__span(w, &s), 0);
	add_span(w, 0);
	close_trace(w);
	assert_int_equal(export(false), 0);
	assert_int_equal(sums.events, 1);
	assert_int_equal(sums.files, 1);
	assert_int_equal(sums.empty, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_comes_back),
		cmocka_unit_test(files_have_names_as_rustc_gives_them),
		cmocka_unit_test(nothing_is_overwritten_unless_forced),
		cmocka_unit_test(times_start_with_the_process),
		cmocka_unit_test(an_interval_that_does_not_nest_is_counted),
		cmocka_unit_test(off_cpu_is_left_out),
	};

	return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
