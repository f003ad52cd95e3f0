// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/measureme.h"

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/spans.h"
#include "import/measureme.h"
#include "import/mm_reader.h"
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

	must(mm_reader__events(r, 0, n, events), mm_depths__find(&d, r));
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

TEST_CASE_WITH(a_trace_comes_back, directory_make, directory_remove)
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
	assert_struct(sums, files, 4, events, s->n, adjusted, 0);
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

TEST_CASE_WITH(files_have_names_as_rustc_gives_them, directory_make, directory_remove)
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
	assert_struct(sums, files, 6, empty, 1);
	assert_true(exists("regex_syntax-0004711.mm_profdata"));
	assert_true(exists("regex_syntax-0004711-1.mm_profdata"));
	assert_true(exists("unknown-crate-123456789.mm_profdata"));
	assert_true(exists("___a_b_c-0000005.mm_profdata"));
	assert_true(exists("unknown-crate-0000006.mm_profdata"));
	strcpy(longest + 199, "-0000008.mm_profdata");
	assert_true(exists(longest));
	assert_int_equal(directory_files(false), 7);
}

TEST_CASE_WITH(nothing_is_overwritten_unless_forced, directory_make, directory_remove)
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

TEST_CASE_WITH(times_start_with_the_process, directory_make, directory_remove)
{
	struct trace_process p = {.pid = 1, .start_ns = 60, .exit_status = TRACE_EXIT_UNKNOWN};
	struct trace_writer *w = open_trace();
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event e;
	const char *why;

	assert_int_equal(trace_writer__process(w, &p), 0);
	add_span(w, 0);
	close_trace(w);
	must(export(false),
	     mm_reader__open(directory_path("unknown-crate-0000001.mm_profdata"), &r, &why),
	     mm_reader__events(r, 0, 1, &e));
	assert_struct(e, start, 10, end, 20, thread, 3, id, 0);
	assert_string_equal(mm_reader__metadata(r)->process.command, "");
}

TEST_CASE_WITH(an_interval_that_does_not_nest_is_counted, directory_make, directory_remove)
{
	struct trace_writer *w = open_trace();
	struct trace_span s = {.start_ns = 75, .end_ns = 90, .tid = 3};

	add_process(w, 0, 1, "x");
	add_span(w, 0);
	assert_int_equal(trace_writer__span(w, &s), 0);
	close_trace(w);
	assert_int_equal(export(false), 0);
	assert_struct(sums, adjusted, 1, events, 2);
}

/* measureme has no kind for them. */
TEST_CASE_WITH(off_cpu_is_left_out, directory_make, directory_remove)
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
	assert_struct(sums, events, 1, files, 1, empty, 1);
}

/* ---- Mm process ------------------------------------------------------------------------------ */

#define BASE 5000ull

static const char *const labels[] = {"typeck", "mir_built", "a\036b\t\377", ""};

static struct trace_reader *texts;
static uint8_t own; /* a kind that only the trace knows */

/* Read a trace with these labels. */
static int setup(void **state)
{
	const struct trace_info info = {.tool = "t\"ool",
					.kernel = "k",
					.host = "h",
					.clock_start_ns = 4000,
					.realtime_start_ns = 1000000};
	struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	struct trace_span s = {.label = 0};
	struct trace_writer *w = NULL;
	struct trace_item item;
	uint32_t id;

	if (directory_make(state))
		return -1;
	must(trace_writer__open(directory_path("texts"), &info, &w), trace_writer__process(w, &p));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(trace_writer__intern(w, labels[i], &id), 0);
	assert_int_equal(trace_writer__kind(w, "LLVM Pass", &own), 0);
	s.kind = own;
	must(trace_writer__span(w, &s), trace_writer__finish(w));
	trace_writer__free(w);
	assert_int_equal(trace_reader__open(directory_path("texts"), &texts, NULL), 0);
	while (!trace_reader__next(texts, &item) && item.kind != TRACE_ITEM_END)
		;
	return 0;
}

static int teardown(void **state)
{
	trace_reader__free(texts);
	return directory_remove(state);
}

static const struct trace_process rustc = {
	.pid = 4711,
	.parent_pid = 4710,
	.exit_status = 256,
	.attached_late = true,
	.command = (char *)"rustc --cfg feature=\"don't \xc3\xa9\xff\x01\"",
	.crate = (char *)"a\\b",
	.rustc_version = (char *)"1.95.0"};

static struct mm_process *begin(const struct trace_reader *r, const struct trace_losses *losses)
{
	struct mm_process *m = NULL;

	assert_int_equal(mm_process__open(directory_fd, r, &rustc, BASE, losses, &m), 0);
	return m;
}

static struct mm_reader *end(struct mm_process *m)
{
	struct mm_reader *r = NULL;
	const char *why;

	assert_int_equal(mm_process__finish(m, "x", true), 0);
	mm_process__free(m);
	assert_int_equal(mm_reader__open(directory_path("x"), &r, &why), 0);
	assert_null(mm_reader__problem(r));
	return r;
}

TEST_CASE_WITH(metadata_is_whole, setup, teardown)
{
	const struct trace_losses losses = {.count = {[TRACE_LOST_RECURSION] = 7}};
	_mm_reader_ struct mm_reader *r = end(begin(texts, &losses));
	const struct mm_metadata *m = mm_reader__metadata(r);

	assert_true(m->found && m->exported && m->has_losses);
	assert_struct(*m, start_time_ns, 1001000, process.pid, 4711, process.parent_pid, 4710,
		      process.exit_status, 256, process.attached_late, true);
	/* JSON cannot hold bytes that are not UTF-8. */
	assert_struct(m->process, command, "rustc --cfg feature=\"don't \xc3\xa9\xef\xbf\xbd\x01\"",
		      crate, "a\\b", rustc_version, "1.95.0", build_id, NULL);
	assert_int_equal(m->losses.count[TRACE_LOST_RECURSION], 7);
	assert_int_equal(mm_reader__n_events(r), 0);
}

static void add(struct mm_process *m, uint32_t label, uint32_t invocation, uint8_t kind)
{
	static uint64_t at = BASE;
	const struct trace_span s = {.start_ns = at,
				     .end_ns = at + 1,
				     .tid = 9,
				     .label = label,
				     .invocation = invocation,
				     .kind = kind};

	at++;
	assert_int_equal(mm_process__span(m, &s), 0);
}

TEST_CASE_WITH(an_invocation_id_stands_for_one_label, setup, teardown)
{
	static const struct {
		uint32_t label, invocation;
		bool is_virtual;
	} cases[] = {
		{0, 5, true},
		{1, 5, false}, /* rustc gives an anonymous query the id of its dependency */
		{0, 5, true},
		{0, TRACE_NO_INVOCATION, false},
		{0, MM_VIRTUAL_ID_MAX, true},
		{0, MM_VIRTUAL_ID_MAX + 1, false},
		{1, MM_INVALID_ID, false},
		{1, 0, true},
	};
	struct mm_process *m = begin(texts, NULL);
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event events[8];

	for (size_t i = 0; i < 8; i++)
		add(m, cases[i].label, cases[i].invocation, 0);
	r = end(m);
	assert_int_equal(mm_reader__n_events(r), 8);
	assert_int_equal(mm_reader__events(r, 0, 8, events), 0);
	for (size_t i = 0; i < 8; i++) {
		assert_string_equal(mm_reader__label(r, events[i].id), labels[cases[i].label]);
		assert_string_equal(mm_reader__kind(r, events[i].kind), "Query");
		if (cases[i].is_virtual)
			assert_int_equal(events[i].id, cases[i].invocation);
		else
			assert_true(events[i].id > MM_INVALID_ID);
	}
}

TEST_CASE_WITH(texts_are_made_fit, setup, teardown)
{
	struct mm_process *m = begin(texts, NULL);
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event events[3];

	add(m, 2, 1, own);
	add(m, 3, 2, TRACE_KIND_LOAD);
	add(m, 12345, 3, 0);
	r = end(m);
	assert_int_equal(mm_reader__events(r, 0, 3, events), 0);
	assert_string_equal(mm_reader__label(r, events[0].id), "a?b??");
	assert_string_equal(mm_reader__kind(r, events[0].kind), "LLVM Pass");
	assert_string_equal(mm_reader__label(r, events[1].id), "<unknown>");
	assert_string_equal(mm_reader__kind(r, events[1].kind), "IncrementalLoadResult");
	assert_string_equal(mm_reader__label(r, events[2].id), "<unknown>");
}

TEST_CASE_WITH(a_cache_hit_is_an_instant, setup, teardown)
{
	const struct trace_span s = {
		.start_ns = BASE + 5, .end_ns = BASE + 5, .tid = 9, .kind = TRACE_KIND_HIT};
	struct mm_process *m = begin(texts, NULL);
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event e;

	assert_int_equal(mm_process__span(m, &s), 0);
	r = end(m);
	assert_int_equal(mm_reader__events(r, 0, 1, &e), 0);
	assert_struct(e, type, MM_INSTANT_EVENT, start, 5);
	assert_string_equal(mm_reader__kind(r, e.kind), "QueryCacheHit");
}

static struct mm_event event_of(struct mm_reader *r, uint64_t i, const char *text)
{
	struct byte_buffer out = {0};
	struct mm_event e;

	must(mm_reader__events(r, i, 1, &e), mm_strings__text(mm_reader__strings(r), e.id, &out));
	assert_string_equal((char *)out.data, text);
	byte_buffer__destroy(&out);
	return e;
}

/* A trace whose only process maps ids from 0 and from MM_VIRTUAL_ID_MAX - 2 on to arguments. */
static struct trace_reader *open_arguments(uint32_t *label, uint32_t *other)
{
	static const char *const arguments[] = {"core::fmt", "", "x\x1e\x1ey\t", "core::fmt"};
	const struct trace_info info = {.tool = "t"};
	struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	struct trace_mapping m = {.n = 4};
	struct trace_reader *r = NULL;
	struct trace_writer *w = NULL;
	uint32_t strings[4];

	unlink(directory_path("texts"));
	must(trace_writer__open(directory_path("texts"), &info, &w), trace_writer__process(w, &p),
	     trace_writer__intern(w, "typeck", label), trace_writer__intern(w, "mir", other));
	for (int i = 0; i < 4; i++)
		assert_int_equal(trace_writer__intern(w, arguments[i], &strings[i]), 0);
	m.strings = strings;
	assert_int_equal(trace_writer__map(w, &m), 0);
	m.first = MM_VIRTUAL_ID_MAX - 2;
	must(trace_writer__map(w, &m), trace_writer__finish(w));
	trace_writer__free(w);
	assert_int_equal(trace_reader__open(directory_path("texts"), &r, NULL), 0);
	return r;
}

/* The text of an id becomes the arguments of the first label with that id, and of no other. */
TEST_CASE_WITH(arguments_are_given_back, setup, teardown)
{
	static const struct {
		uint32_t invocation;
		bool other;
		const char *text;
	} cases[] = {
		{0, false, "typeck\036core::fmt"},
		{0, false, "typeck\036core::fmt"},
		{0, true, "mir"},
		{1, false, "typeck"},
		{2, false, "typeck\x1ex\x1ey?"},
		{3, false, "typeck\036core::fmt"},
		{77, false, "typeck"}, /* not mapped */
		{MM_VIRTUAL_ID_MAX - 2, false, "typeck\036core::fmt"},
		{MM_VIRTUAL_ID_MAX + 1, false, "typeck\036core::fmt"},
	};
	uint32_t label, other;
	_trace_reader_ struct trace_reader *arguments = open_arguments(&label, &other);
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_process *m = begin(arguments, NULL);

	for (size_t i = 0; i < 9; i++)
		add(m, cases[i].other ? other : label, cases[i].invocation, 0);
	r = end(m);
	for (size_t i = 0; i < 9; i++) {
		struct mm_event e = event_of(r, i, cases[i].text);

		assert_int_equal(e.id <= MM_VIRTUAL_ID_MAX,
				 !cases[i].other && cases[i].invocation <= MM_VIRTUAL_ID_MAX);
	}
}

TEST_CASE_WITH(times_are_limited, setup, teardown)
{
	struct trace_span s = {.start_ns = BASE + 9,
			       .end_ns = BASE + (1ull << 50),
			       .invocation = TRACE_NO_INVOCATION};
	struct mm_process *m = begin(texts, NULL);
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event e[2];

	assert_int_equal(mm_process__span(m, &s), 1);
	s.start_ns = BASE + (1ull << 49);
	assert_int_equal(mm_process__span(m, &s), 1);
	s.start_ns = BASE - 1;
	assert_int_equal(mm_process__span(m, &s), -EINVAL);
	r = end(m);
	assert_int_equal(mm_reader__events(r, 0, 2, e), 0);
	assert_int_equal(e[0].start, 9);
	assert_true(e[0].end == MM_TIME_MAX);
	assert_true(e[1].start == MM_TIME_MAX && e[1].end == MM_TIME_MAX);
}

TEST_CASE_WITH(sums_beyond_an_event_take_several, setup, teardown)
{
	const struct trace_tally t = {.label = 1, .kind = TRACE_KIND_HIT_COUNT, .sum = 5ull << 47};
	const struct trace_tally none = {.label = 1, .kind = TRACE_KIND_HIT_COUNT};
	struct mm_process *m = begin(texts, NULL);
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_event e[4];

	must(mm_process__tally(m, &t), mm_process__tally(m, &none));
	assert_int_equal(mm_process__events(m), 4);
	r = end(m);
	assert_int_equal(mm_reader__events(r, 0, 4, e), 0);
	assert_true(e[0].start + e[1].start + e[2].start == t.sum);
	assert_int_equal(e[3].start, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(e[i].type, MM_INTEGER_EVENT);
}

TEST_MAIN(NULL, NULL)
