// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/measureme.h"

#include <glob.h>

#include "test.h"
#include "trace/reader.h"
#include "../fixtures/mm_bytes.h"
#include "../fixtures/output.h"
#include "../fixtures/random.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"
#include "../fixtures/spans.h"
#include "../fixtures/directory.h"
#include "qprof/trace_format.h"

#define GOLDEN "tests/golden/mm/"

static void import(FILE *out, struct mm_reader *r, const char *name)
{
	uint64_t start = mm_reader__metadata(r)->start_time_ns;
	const struct trace_info info = {
		.tool = "qprof-bpf import", .clock_start_ns = start, .realtime_start_ns = start};
	_trace_writer_ struct trace_writer *w = NULL;
	struct measureme_found found;

	unlink(temporary);
	must(trace_writer__open(temporary, &info, &w), import_measureme(w, 0, r, name, &found),
	     trace_writer__finish(w));
	if (mm_reader__problem(r))
		fprintf(out, "profile: %s\n", mm_reader__problem(r));
	if (found.backwards || found.out_of_order || found.overlapping)
		fprintf(out,
			"profile: %" PRIu64 " backwards, %" PRIu64 " out of order, %" PRIu64
			" overlapping\n",
			found.backwards, found.out_of_order, found.overlapping);
}

/* Import these bytes and dump the trace as text, which the caller frees. */
static char *import_bytes(const void *bytes, size_t size, const char *name)
{
	_mm_reader_ struct mm_reader *r = NULL;
	_free_ char *trace = NULL;
	char path[40];
	const char *why = NULL;
	_close_ int fd = mm_bytes__memfd(bytes, size, path);
	int err = mm_reader__open(path, &r, &why);

	if (err)
		return PRINTED(fprintf(to_, "refused: %s: %s\n", strerrorname_np(-err), why));
	return PRINTED({
		import(to_, r, name);
		trace = dump_trace(temporary);
		fputs(trace, to_);
	});
}

static void check_golden(const char *pattern, size_t least)
{
	glob_t found;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= least);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t size = 0;
		_free_ uint8_t *bytes = slurp(found.gl_pathv[i], &size);
		_free_ char *text = import_bytes(bytes, size, found.gl_pathv[i]), *expected = NULL;

		strcpy(strrchr(found.gl_pathv[i], '.'), ".txt");
		expected = (char *)slurp(found.gl_pathv[i], &size);
		assert_non_null(expected);
		if (strcmp(text, expected))
			fail_msg("%s: got\n%s", found.gl_pathv[i], text);
	}
	globfree(&found);
}

TEST_CASE(good_golden_files_are_imported)
{
	check_golden(GOLDEN "good-*.mm_profdata", 8);
}

TEST_CASE(bad_golden_files_give_what_they_hold)
{
	check_golden(GOLDEN "bad-*.mm_profdata", 18);
}

/* True if a page ends before byte n: a cut there looks like the end of the file. */
static bool between_pages(const uint8_t *bytes, size_t n)
{
	size_t at = MM_HEADER_SIZE;

	while (at < n)
		at += MM_PAGE_HEADER_SIZE + bytes_load_u32(bytes + at + 1);
	return at == n;
}

/* The pages are small, so a longer piece of the file holds more spans. */
TEST_CASE(every_cut_is_imported)
{
	size_t size = 0, last = 0;
	_free_ uint8_t *bytes = slurp(GOLDEN "good-small-pages.mm_profdata", &size);

	assert_non_null(bytes);
	for (size_t n = 0; n <= size; n++) {
		_free_ char *text = import_bytes(bytes, n, "x");
		size_t spans = occurrences(text, "\nspan ");

		assert_int_equal(!strncmp(text, "refused: ", 9), n < MM_HEADER_SIZE);
		if (n >= MM_HEADER_SIZE && !between_pages(bytes, n))
			assert_int_equal(strncmp(text, "profile: cut short", 18), 0);
		assert_true(spans >= last);
		last = spans;
	}
	assert_int_equal(last, 4);
}

TEST_CASE(no_flipped_byte_is_trusted)
{
	struct rng rng = rng_new();
	size_t size = 0;
	_free_ uint8_t *bytes = slurp(GOLDEN "good-values.mm_profdata", &size);

	assert_non_null(bytes);
	for (int i = 0; i < 2000; i++) {
		size_t at = rng_below(&rng, size);
		uint8_t old = bytes[at];

		bytes[at] = rng_u64(&rng);
		free(import_bytes(bytes, size, "x"));
		bytes[at] = old;
	}
}

TEST_CASE(a_file_names_a_crate_that_nothing_else_names)
{
	static const struct {
		const char *path, *crate;
	} cases[] = {
		{"a/b-c_d-0004711.mm_profdata", " [b-c_d] "},
		{"x-12345678.mm_profdata", " [x] "},
		{"unknown-crate-0004711.mm_profdata", " [-] "},
		{"x-471.mm_profdata", " [-] "},
		{"x-0004711.profdata", " [-] "},
		{"x", " [-] "},
	};
	__cleanup(byte_buffer__destroy) struct byte_buffer file;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	mm_bytes__metadata(&m, 1, 1, "rustc @args");
	file = mm_bytes__file(&m, 100);
	for (size_t i = 0; i < N_OF(cases); i++) {
		_free_ char *text = import_bytes(file.data, file.size, cases[i].path);

		if (!strstr(text, cases[i].crate))
			fail_msg("%s: %s", cases[i].path, text);
	}
	mm_bytes__end(&m);
}

/* There are more labels than the importer caches. */
TEST_CASE(many_labels_keep_their_names)
{
	_free_ char *text = NULL;
	__cleanup(byte_buffer__destroy) struct byte_buffer file;
	struct mm_bytes m;
	uint64_t kind;
	char name[32];

	mm_bytes__begin(&m);
	mm_bytes__metadata(&m, 1, 1, "rustc");
	kind = mm_bytes__string(&m, "Query");
	for (uint32_t i = 0; i < 70000; i++) {
		snprintf(name, sizeof(name), "q%u\x1e%u", i % 1000, i);
		mm_bytes__map(&m, i, mm_bytes__string(&m, name));
		mm_bytes__event(&m, kind, i, 1, i, i + 1);
	}
	file = mm_bytes__file(&m, 100000);
	text = import_bytes(file.data, file.size, "x");
	assert_int_equal(occurrences(text, " q999 #"), 70);
	assert_non_null(strstr(text, "q999 #69999 event=69999\nwhole\n"));
	mm_bytes__end(&m);
}

/* ---- Mm depths ------------------------------------------------------------------------------- */

static void find(struct mm_depths *d, struct mm_bytes *m)
{
	_mm_reader_ struct mm_reader *r = NULL;
	const char *why;
	char path[40];
	_close_ int fd = mm_bytes__open(m, 5000, path);

	must(mm_reader__open(path, &r, &why), mm_depths__find(d, r));
	mm_bytes__end(m);
}

TEST_CASE(depths_are_those_of_the_nesting)
{
	struct rng rng = rng_new();
	struct spans *s = spans_new(&rng, 10000, 1, 5);
	__cleanup(mm_depths__destroy) struct mm_depths d;
	struct mm_bytes m;
	uint64_t base = s->at[0].start_ns - 1000000, last = 0;

	mm_bytes__begin(&m);
	for (uint32_t i = 0; i < s->n; i++) {
		last = s->at[i].end_ns - base > last ? s->at[i].end_ns - base : last;
		mm_bytes__event(&m, 1, 1, s->at[i].tid, s->at[i].start_ns - base,
				s->at[i].end_ns - base);
	}
	find(&d, &m);
	for (uint32_t i = 0; i < s->n; i++)
		assert_int_equal(d.depth[i], s->at[i].depth);
	assert_int_equal(d.backwards + d.out_of_order + d.overlapping, 0);
	assert_int_equal(d.last_end_ns, last);
	free(s);
}

TEST_CASE(intervals_that_cannot_be_placed_are_counted)
{
	static const struct {
		uint64_t start, end;
		uint16_t depth;
	} events[] = {
		{1, MM_INSTANT, MM_NO_DEPTH},
		{0, 3, 0},
		{2, 5, 0},	      /* overlaps the one before */
		{9, 8, MM_NO_DEPTH},  /* backwards */
		{6, 30, MM_NO_DEPTH}, /* ends after the next one */
		{6, 7, 1},
		{6, 10, 0},
		{7, MM_INTEGER, MM_NO_DEPTH},
	};
	__cleanup(mm_depths__destroy) struct mm_depths d;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (size_t i = 0; i < 8; i++)
		mm_bytes__event(&m, 1, 1, 1, events[i].start, events[i].end);
	find(&d, &m);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(d.depth[i], events[i].depth);
	assert_struct(d, backwards, 1, out_of_order, 1, overlapping, 1, last_end_ns, 10);
}

TEST_CASE(depths_have_a_limit)
{
	__cleanup(mm_depths__destroy) struct mm_depths d;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (uint32_t i = 0; i < 70000; i++)
		mm_bytes__event(&m, 1, 1, 1, 70000 - i, 80000 + i);
	find(&d, &m);
	assert_struct(d, depth[69999], 0, depth[69999 - 65000], 65000, depth[0], MM_NO_DEPTH - 1);
}

/* ---- Mm arguments ---------------------------------------------------------------------------- */

/* good-arguments.txt lists its content. */
#define PROFILE "tests/golden/mm/good-arguments.mm_profdata"

static struct mm_reader *profile(void)
{
	struct mm_reader *r = NULL;
	const char *why;

	assert_int_equal(mm_reader__open(PROFILE, &r, &why), 0);
	return r;
}

static struct trace_writer *new_trace(void)
{
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	const struct trace_info info = {.tool = (char *)"t"};
	struct trace_writer *w = NULL;

	unlink(directory_path("x"));
	must(trace_writer__open(directory_path("x"), &info, &w), trace_writer__process(w, &p));
	return w;
}

TEST_GROUP(directory_make, directory_remove)

/* A string that is stored once in the profile is stored once in the trace. */
TEST_CASE(strings_stay_shared)
{
	_mm_reader_ struct mm_reader *r = profile();
	_trace_writer_ struct trace_writer *w = new_trace();
	struct mm_arguments a = {.w = w, .strings = mm_reader__strings(r)};
	_trace_reader_ struct trace_reader *trace = NULL;
	struct trace_item item;

	assert_int_equal(mm_arguments__map(&a), 0);
	assert_struct(a, kept, 3, full, false);
	mm_arguments__destroy(&a);
	must(trace_writer__finish(w), trace_reader__open(directory_path("x"), &trace, NULL));
	while (!trace_reader__next(trace, &item) && item.kind != TRACE_ITEM_END)
		;
	/* "", a, a::f, typeck, a::f::{closure#0}\x1etypeck, bc: a path is not written out twice. */
	assert_struct(trace_reader__stats(trace), strings, 6, mapped, 4);
}

/* The trace is still complete except for the arguments, and the result reports the loss. */
TEST_CASE(a_trace_may_be_full)
{
	const struct trace_mapping all = {.process = TRACE_NO_PROCESS, .n = QPT_MAPPED_MAX};
	_mm_reader_ struct mm_reader *r = profile();
	_trace_writer_ struct trace_writer *w = new_trace();
	struct measureme_found found;
	uint32_t id;

	must(trace_writer__intern(w, "x", &id), trace_writer__map(w, &all),
	     import_measureme(w, 0, r, "x", &found));
	assert_struct(found, too_many_arguments, true, spans, 9);
	assert_int_equal(trace_writer__finish(w), 0);
}

TEST_MAIN(temporary_make, temporary_remove)
