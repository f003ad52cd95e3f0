// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include <sys/stat.h>

#include "../fixtures/export_trace.h"
#include "../fixtures/page.h"
#include "../fixtures/spans_trace.h"
#include "export/notes.h"

static void assert_note(const struct export_job *job, enum export_note which, const char *expected)
{
	char note[EXPORT_NOTE_MAX];

	assert_int_equal(export_note(job, which, note), *expected != '\0');
	assert_string_equal(note, expected);
}

TEST_CASE(of_a_whole_trace_there_is_nothing_to_say)
{
	const struct trace_span span = {.start_ns = 10, .end_ns = 12};
	_free_ char *all = NULL;
	struct export_job job = {};
	struct trace_item item;

	spans_trace(&span, 1, 1, 1, NULL, &job.r, 1);
	while (!trace_reader__next(job.r, &item) && item.kind != TRACE_ITEM_END)
		;
	for (int i = 0; i < EXPORT_NOTES; i++)
		assert_note(&job, i, "");
	all = export_notes(&job);
	assert_string_equal(all, "");
	trace_reader__free(job.r);
}

static void write_lossy(const char *path)
{
	const struct trace_info info = {.tool = "test", .kernel = "-", .host = "-"};
	const struct trace_losses losses = {.count = {[TRACE_LOST_RING_FULL] = 1234}};
	const struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};
	_trace_writer_ struct trace_writer *w = NULL;

	assert_int_equal(trace_writer__open(path, &info, &w), 0);
	assert_int_equal(trace_writer__process(w, &p), 0);
	assert_int_equal(trace_writer__losses(w, &losses), 0);
	assert_int_equal(trace_writer__finish(w), 0);
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
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 1), 0);
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

TEST_MAIN(NULL, NULL)
