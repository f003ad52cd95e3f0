// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>
#include <zlib.h>
#include <sys/mman.h>
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/random.h"
#include "../fixtures/page.h"
#include "export/out.h"
#include <sys/stat.h>
#include "../fixtures/export_trace.h"
#include "../fixtures/spans_trace.h"
#include "export/notes.h"
#include "export/span_merge.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"

/* The output of `call`, which writes to `o`; the caller frees it. */
#define WRITTEN(call)                                          \
	({                                                     \
		char path_[] = "/tmp/qprof-out-XXXXXX";        \
		_close_ int fd_ = mkstemp(path_);              \
		_out_ struct out *o = NULL;                    \
		char *text_;                                   \
                                                               \
		assert_int_equal(out__new(fd_, &o), 0);        \
		call;                                          \
		assert_int_equal(out__flush(o), 0);            \
		text_ = output_read(path_);                    \
		assert_int_equal(strlen(text_), out__size(o)); \
		unlink(path_);                                 \
		text_;                                         \
	})

#define assert_written(call, expected)               \
	do {                                         \
		_free_ char *text = WRITTEN(call);   \
                                                     \
		assert_string_equal(text, expected); \
	} while (0)

TEST_CASE(texts_stay_in_what_they_are_in)
{
	assert_written(out__number(o, 0), "0");
	assert_written(out__number(o, UINT64_MAX), "18446744073709551615");
	assert_written(out__json(o, "a\"\\\n\x1f\x7f/\xc3\xa9\xff\xed\xa0\x80"),
		       "\"a\\\"\\\\\\u000a\\u001f\\u007f/\xc3\xa9\xef\xbf\xbd"
		       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_written(out__plain(o, "a;b,\nc\x7f d\xc3\xa9\xff\xc2\x85\xe2\x80\xa8", ";,", '_'),
		       "a_b__c_ d\xc3\xa9\xef\xbf\xbd__");
}

TEST_CASE(text_larger_than_the_buffer_keeps_its_order)
{
	static char large[200001];
	_free_ char *text = NULL;

	memset(large, '-', sizeof(large) - 1);
	text = WRITTEN({
		out__text(o, "x");
		out__text(o, large);
		out__text(o, "y");
	});
	assert_int_equal(strlen(text), sizeof(large) + 1);
	assert_int_equal(text[0], 'x');
	assert_int_equal(text[sizeof(large)], 'y');
}

TEST_CASE(the_first_error_stays)
{
	_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	_out_ struct out *o = NULL;

	assert_int_equal(out__new(fd, &o), 0);
	out__text(o, "x");
	assert_int_equal(out__error(o), 0);
	assert_int_equal(out__flush(o), -ENOSPC);
	assert_int_equal(out__error(o), -ENOSPC);
	assert_int_equal(out__flush(o), -ENOSPC);
}

/* ---- Gzip ------------------------------------------------------------------------------------ */

#define MOST 300000

/* Pack `size` bytes in pieces. The caller frees the output, which has a NUL after it. */
static char *pack(enum gzip_form format, const uint8_t *in, size_t size, struct rng *rng,
		  size_t *packed)
{
	_close_ int fd = memfd_create("packed", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *g = NULL;
	char *text;

	must(out__new(fd, &out), gzip__new(out, format, &g));
	for (size_t i = 0, n; i < size; i += n) {
		n = 1 + rng_below(rng, 50000);
		n = n < size - i ? n : size - i;
		assert_int_equal(gzip__bytes(g, in + i, n), 0);
	}
	must(gzip__finish(g), out__flush(out));
	*packed = out__size(out);
	text = calloc(1, *packed + 1);
	assert_int_equal(pread(fd, text, *packed, 0), *packed);
	return text;
}

TEST_CASE(bytes_survive_a_round_trip)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 9000, MOST};
	static uint8_t in[MOST];
	struct rng rng = rng_new();

	/* The first half is random and cannot be compressed. */
	for (size_t i = 0; i < MOST; i++)
		in[i] = i < MOST / 2 ? (uint8_t)rng_u64(&rng) : 7;
	for (size_t i = 0; i < N_OF(sizes); i++) {
		size_t n, size;
		_free_ char *bytes = pack(GZIP_BYTES, in, sizes[i], &rng, &n);
		_free_ uint8_t *inflated = page_inflate((uint8_t *)bytes, n, &n);
		_free_ char *text = pack(GZIP_BASE64, in, sizes[i], &rng, &size);
		_free_ uint8_t *unpacked = page_unpack(text, &size);

		assert_int_equal(n, sizes[i]);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(inflated, in, n);
		assert_memory_equal(unpacked, in, n);
	}
}

TEST_CASE(text_printed_to_the_stream_is_packed)
{
	_close_ int fd = memfd_create("packed", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *p = NULL;
	char text[256] = "";
	_free_ uint8_t *back = NULL;
	size_t size;
	FILE *f;

	must(out__new(fd, &out), gzip__new(out, GZIP_BASE64, &p));
	f = gzip__stream(p);
	fprintf(f, "%d and %s", 1, "two");
	must(fclose(f), gzip__finish(p), out__flush(out));
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	back = page_unpack(text, &size);
	assert_string_equal((char *)back, "1 and two");
}

TEST_CASE(a_full_disk_is_reported)
{
	static const enum gzip_form formats[] = {GZIP_BYTES, GZIP_BASE64};

	for (size_t i = 0; i < N_OF(formats); i++) {
		_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
		_out_ struct out *out = NULL;
		_gzip_ struct gzip *g = NULL;

		must(out__new(fd, &out), gzip__new(out, formats[i], &g), gzip__bytes(g, "x", 1),
		     gzip__finish(g));
		assert_int_equal(out__flush(out), -ENOSPC);
	}
}

/* ---- Notes ----------------------------------------------------------------------------------- */

static void assert_note(const struct export_job *job, enum export_note which, const char *expected)
{
	char note[EXPORT_NOTE_MAX];

	assert_int_equal(export_note(job, which, note), *expected != '\0');
	assert_string_equal(note, expected);
}

TEST_CASE(of_a_whole_trace_there_is_nothing_to_say)
{
	const struct trace_span span = {.start_ns = 10, .end_ns = 12};
	struct export_job job = {};
	struct trace_item item;

	spans_trace(&span, 1, 1, 1, NULL, &job.r, 1);
	while (!trace_reader__next(job.r, &item) && item.kind != TRACE_ITEM_END)
		;
	for (int i = 0; i < EXPORT_NOTES; i++)
		assert_note(&job, i, "");
	assert_shows(export_notes(&job), "=");
	trace_reader__free(job.r);
}

static void write_lossy(const char *path)
{
	const struct trace_info info = {.tool = "test", .kernel = "-", .host = "-"};
	const struct trace_losses losses = {.count = {[TRACE_LOST_RING_FULL] = 1234}};
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	_trace_writer_ struct trace_writer *w = NULL;

	must(trace_writer__open(path, &info, &w), trace_writer__process(w, &p),
	     trace_writer__losses(w, &losses), trace_writer__finish(w));
}

#define LEFT_OUT                                                                           \
	"1 interval is left out, those shorter than 10 ns first, as the file is to be no " \
	"larger than 19 B"

TEST_CASE(each_cause_of_missing_data_has_its_note)
{
	char path[] = "/tmp/qprof-notes-XXXXXX.qpt";
	struct export_job job = {.left_out = 1, .least_ns = 10, .max_bytes = 19, .adjusted = 2};
	_out_ struct out *out = NULL;
	_free_ char *all = NULL;
	struct trace_item item;

	temporary_name(path);
	write_lossy(path);
	assert_int_equal(trace_reader__open(path, &job.r, NULL), 0);
	unlink(path);
	assert_int_equal(out__new(-1, &out), 0);
	job.out = out;
	while (!trace_reader__next(job.r, &item) && item.kind != TRACE_ITEM_END)
		;
	assert_note(&job, NOTE_PROBLEM, "");
	assert_note(&job, NOTE_LOST, "1,234 records were lost while it was recorded");
	assert_note(&job, NOTE_LEFT_OUT, LEFT_OUT);
	assert_note(&job, NOTE_ADJUSTED,
		    "2 intervals overlapped others without being in them, and were cut");
	out__text(out, "more than was to be");
	assert_note(&job, NOTE_LEFT_OUT, LEFT_OUT);
	out__text(out, "!");
	assert_note(&job, NOTE_LEFT_OUT, LEFT_OUT ", which it is without them");
	all = export_notes(&job);
	assert_true(!strncmp(all, "; 1,234 records were lost while it was recorded; 1 inter", 55));
	trace_reader__free(job.r);
}

/* The small trace without its last byte. */
static void write_cut(const char *path)
{
	struct stat st;

	export_trace_write(path);
	must(stat(path, &st), truncate(path, st.st_size - 1));
}

static char *export_cut(export_fn export, size_t *size)
{
	return export_of(write_cut, export, &(struct export_job){}, size);
}

/* The reader of an exported file has not seen the messages of the exporter. */
TEST_CASE(files_say_that_the_trace_was_not_whole)
{
	static const export_fn formats[] = {export_perfetto, export_speedscope, export_pprof};
	static const char said[] = "the trace is not whole (cut short ";

	for (size_t i = 0; i < N_OF(formats); i++) {
		size_t size;
		_free_ char *bytes = export_cut(formats[i], &size);

		if (formats[i] == export_pprof) {
			_free_ char *packed = bytes;

			bytes = (char *)page_inflate((uint8_t *)packed, size, &size);
		}
		assert_non_null(memmem(bytes, size, said, strlen(said)));
	}
}

/* ---- Process title --------------------------------------------------------------------------- */

TEST_CASE(titles)
{
	static const struct {
		struct trace_process process;
		const char *title;
	} rows[] = {
		{{.crate = "a", .pid = 7, .command = "/bin/rustc x"}, "a (7)"},
		{{.crate = "", .command = "/bin/rustc x/y"}, "rustc x/y (0)"},
		{{.crate = "a", .crate_type = "bin", .pid = 8}, "a (bin) (8)"},
		{{.command = "rustdoc"}, "rustdoc (0)"},
		{{.command = "/bin/ x"}, "unknown (0)"},
		{{.command = ""}, "unknown (0)"},
		{{.pid = 4294967295u}, "unknown (4294967295)"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char *title = process_title(&rows[i].process);

		assert_string_equal(title, rows[i].title);
		free(title);
	}
}

TEST_GROUP(temporary_make, NULL)

/* ---- Span merge ------------------------------------------------------------------------------ */

/* A trace with jobs 1 to 4, each in the one before, and 5 in the first. */
static struct trace_reader *open_jobs(void)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	struct trace_sample sample = sampled_trace_sample(1, TRACE_NO_STACK);
	struct trace_item item;
	struct trace_reader *r;

	assert_int_equal(trace_writer__sampling(w, &sampling), 0);
	for (uint32_t i = 0; i < 5; i++) {
		const struct trace_job job = {.query = i & 1,
					      .invocation = TRACE_NO_INVOCATION,
					      .parent = i == 4 ? 1 : i};
		uint32_t id;

		assert_int_equal(trace_writer__job(w, &job, &id), 0);
		assert_int_equal(id, i + 1);
		sample.job = id;
	}
	must(trace_writer__sample(w, &sample), trace_writer__finish(w),
	     trace_reader__open(temporary, &r, NULL));
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	unlink(temporary);
	return r;
}

/* The intervals, as text; ~ marks those by samples. */
static char given[4096];

static int take(void *ctx, const struct trace_span *s)
{
	size_t n = strlen(given);

	snprintf(given + n, sizeof(given) - n, "%s%u@%u %u-%u; ",
		 s->flags & TRACE_SPAN_SAMPLED ? "~" : "", s->tid, s->depth,
		 (unsigned int)s->start_ns, (unsigned int)s->end_ns);
	return ctx ? -ENOSPC : 0;
}

struct row {
	uint64_t from, to; /* of an activity; or: */
	uint64_t at;	   /* a sample */
	uint32_t job, tid;
	uint8_t flags;
};

#define ACTIVITY(from, to)           \
	{                            \
		from, to, 0, 0, 7, 0 \
	}
#define LEFT(from, to)                             \
	{                                          \
		from, to, 0, 0, 7, TRACE_SPAN_LEFT \
	}
#define SAMPLE(at, job)             \
	{                           \
		0, 0, at, job, 7, 0 \
	}

static int feed(struct span_merge *m, const struct row *row)
{
	struct trace_item item = {.kind = TRACE_ITEM_SAMPLE};

	if (row->job) {
		item.sample = (struct trace_sample){.time_ns = row->at,
						    .tid = row->tid,
						    .job = row->job,
						    .cause = TRACE_SAMPLE_CPU};
		return span_merge__item(m, &item);
	}
	item.kind = TRACE_ITEM_SPAN;
	item.span = (struct trace_span){.start_ns = row->from,
					.end_ns = row->to,
					.tid = row->tid,
					.depth = 3,
					.flags = row->flags,
					.kind = TRACE_KIND_ACTIVITY};
	return span_merge__item(m, &item);
}

static void run_as(bool queries, const struct row *rows, size_t n)
{
	const struct trace_item sampling = {.kind = TRACE_ITEM_SAMPLING,
					    .sampling.queries = queries};
	_trace_reader_ struct trace_reader *r = open_jobs();
	struct span_merge m;

	*given = '\0';
	span_merge__init(&m, r, take, NULL);
	assert_int_equal(span_merge__item(&m, &sampling), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(feed(&m, &rows[i]), 0);
	assert_int_equal(span_merge__end(&m), 0);
	span_merge__destroy(&m);
}

#define RUN(...) \
	run_as(true, (const struct row[]){__VA_ARGS__}, N_OF(((const struct row[]){__VA_ARGS__})))

TEST_CASE(spans_go_on_as_they_are_where_queries_have_probes)
{
	const struct row rows[] = {ACTIVITY(10, 20), SAMPLE(12, 1), SAMPLE(14, 1), ACTIVITY(5, 30)};

	run_as(false, rows, N_OF(rows));
	assert_string_equal(given, "7@3 10-20; 7@3 5-30; ");
}

TEST_CASE(intervals_nest_in_the_order_of_their_ends)
{
	/* Chunks of spans and of samples come in any order. */
	RUN(SAMPLE(10, 1), SAMPLE(20, 2), SAMPLE(24, 2), SAMPLE(40, 1), ACTIVITY(21, 23),
	    ACTIVITY(5, 50));
	assert_string_equal(given, "7@3 21-23; ~7@2 20-24; ~7@1 10-40; 7@0 5-50; ");
	RUN(ACTIVITY(5, 50), SAMPLE(10, 1), SAMPLE(40, 1), {60, 70, 0, 0, 8, 0});
	assert_string_equal(given, "~7@1 10-40; 7@0 5-50; 8@0 60-70; ");
}

TEST_CASE(an_execution_contains_an_activity_that_it_overlaps)
{
	/* It began before the activity, or ended after it. */
	RUN(ACTIVITY(10, 30), SAMPLE(20, 1), SAMPLE(40, 1));
	assert_string_equal(given, "7@1 10-30; ~7@0 10-40; ");
	RUN(ACTIVITY(30, 50), SAMPLE(20, 1), SAMPLE(40, 1));
	assert_string_equal(given, "7@1 30-50; ~7@0 20-50; ");
	/* So did those around it, by two activities at each side. */
	RUN(ACTIVITY(12, 18), ACTIVITY(10, 30), ACTIVITY(45, 60), SAMPLE(16, 2), SAMPLE(20, 3),
	    SAMPLE(50, 3), SAMPLE(70, 1));
	assert_string_equal(
		given, "7@4 12-18; 7@3 10-30; 7@3 45-60; ~7@2 10-60; ~7@1 10-60; ~7@0 10-70; ");
}

TEST_CASE(nothing_follows_from_an_end_that_may_be_late)
{
	RUN(LEFT(10, 30), SAMPLE(20, 1), SAMPLE(40, 1));
	assert_string_equal(given, "~7@1 20-40; 7@0 10-30; ");
}

TEST_CASE(an_error_of_the_receiver_is_returned)
{
	const struct row row = ACTIVITY(10, 20);
	_trace_reader_ struct trace_reader *r = open_jobs();
	struct span_merge m;

	span_merge__init(&m, r, take, &m);
	assert_int_equal(feed(&m, &row), -ENOSPC);
	m.sampled.is_on = true;
	assert_int_equal(feed(&m, &row), 0);
	assert_int_equal(span_merge__end(&m), -ENOSPC);
	span_merge__destroy(&m);
}

/* Any intervals, as no compiler makes them. */
TEST_CASE(a_trace_that_lies_ends_in_time)
{
	_trace_reader_ struct trace_reader *r = open_jobs();
	uint64_t n = 200000;
	struct span_merge m;

	*given = '\0';
	span_merge__init(&m, r, take, NULL);
	m.sampled.is_on = true;
	for (uint64_t i = 0; i < n; i++) {
		const struct row activity = {i, i + n, 0, 0, 7, 0};
		const struct row sample = {0, 0, i, 1 + i / 2 % 5, 7, 0};

		must(feed(&m, &activity), feed(&m, &sample));
	}
	assert_int_equal(span_merge__end(&m), 0);
	span_merge__destroy(&m);
}

TEST_MAIN(NULL, NULL)
