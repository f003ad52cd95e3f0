// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "trace/bytes.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/page.h"
#include "../fixtures/llvm_build.h"
#include <json-c/json.h>
#include <math.h>
#include "base/cleanup.h"
#include "export/protobuf.h"

static void write_llvm(const char *path)
{
	llvm_build_write(path, true);
}

static char *exported_samples(struct export_job *job, size_t *size)
{
	return export_of(sampled_build_write, export_perfetto, job, size);
}

TEST_CASE(the_small_trace_is_as_it_was)
{
	assert_small_golden(export_counts, "export/small.csv");
}

TEST_CASE(raw_times_are_longer)
{
	_free_ char *text = export_small_text(export_counts, &(struct export_job){.raw = true});

	assert_contains(text, "\nmir_built,4,0.001996500\n" + 1);
}

/* By default the wall time of an activity is no number beside CPU times of queries by samples. */
static void write_sampled(const char *path)
{
	const struct trace_info info = {.tool = "t", .kernel = "k"};
	const struct trace_sampling sampling = {.hz = 499, .queries = true};
	const struct trace_process process = {.pid = 1, .end_ns = 90000000, .crate = "a"};
	struct trace_tally typeck = {.kind = TRACE_KIND_RESULTS, .events = 10};
	struct trace_stack entry = {.parent = TRACE_NO_STACK, .kind = TRACE_STACK_QUERY};
	struct trace_sample sample = {.value = 2000000,
				      .tid = 1,
				      .label = TRACE_NO_STRING,
				      .job = TRACE_NO_JOB,
				      .cause = TRACE_SAMPLE_CPU};
	struct trace_span pass = {.end_ns = 50000000,
				  .tid = 1,
				  .kind = TRACE_KIND_ACTIVITY,
				  .invocation = TRACE_NO_INVOCATION};
	_trace_writer_ struct trace_writer *w = NULL;

	must(trace_writer__open(path, &info, &w), trace_writer__process(w, &process),
	     trace_writer__sampling(w, &sampling), trace_writer__intern(w, "typeck", &typeck.label),
	     trace_writer__intern(w, "LLVM_passes", &pass.label));
	entry.place = typeck.label;
	must(trace_writer__stack(w, &entry, &sample.stack), trace_writer__sample(w, &sample),
	     trace_writer__span(w, &pass), trace_writer__tally(w, &typeck),
	     trace_writer__losses(w, &(struct trace_losses){}), trace_writer__finish(w));
}

TEST_CASE(all_seconds_are_of_one_kind)
{
	struct export_job job = {};
	size_t size;
	_free_ char *text = export_of(write_sampled, export_counts, &job, &size);

	assert_string_equal(text, "typeck,10,0.002000000\nLLVM_passes,1,0.000000000\n");
	assert_true(job.cpu_by_samples);
}

/* ---- Folded ---------------------------------------------------------------------------------- */

TEST_CASE(folded_the_small_trace_is_as_it_was)
{
	assert_small_golden(export_folded, "export/small.folded");
}

TEST_CASE(folded_raw_times_are_longer)
{
	struct export_job job = {.raw = true};
	_free_ char *text = export_small_text(export_folded, &job);

	/* 988 without the probe costs. */
	assert_contains(text, "rustdoc x (4711);typeck 1000\n");
	assert_int_equal(job.written, 8);
}

/* Two executions of mir_built, in different places; the ids of others are not mapped. */
TEST_CASE(keys_distinguish_frames)
{
	assert_shows(export_small_text(export_folded, &(struct export_job){.keys = true}),
		     ";typeck;mir_built(a::main) 288\n", ";mir_built 188\n",
		     "a (4711);typeck 388\n", "rustdoc x (4711);typeck 988\n");
}

/* ---- Speedscope ------------------------------------------------------------------------------ */

TEST_CASE(speedscope_the_small_trace_is_as_it_was)
{
	assert_small_golden(export_speedscope, "export/small.speedscope.json");
}

TEST_CASE(weights_add_up_to_the_end)
{
	_free_ char *text = export_small_text(export_speedscope, &(struct export_job){.raw = true});
	struct json_object *document = json_tokener_parse(text), *profiles;

	assert_non_null(document);
	assert_true(json_object_object_get_ex(document, "profiles", &profiles));
	assert_int_equal(json_object_array_length(profiles), 3);
	for (size_t i = 0; i < 3; i++) {
		struct json_object *p = json_object_array_get_idx(profiles, i), *weights, *end;
		int64_t sum = 0;

		assert_true(json_object_object_get_ex(p, "weights", &weights));
		assert_true(json_object_object_get_ex(p, "endValue", &end));
		for (size_t k = 0; k < json_object_array_length(weights); k++)
			sum += json_object_get_int64(json_object_array_get_idx(weights, k));
		assert_int_equal(sum, json_object_get_int64(end));
	}
	json_object_put(document);
}

TEST_CASE(with_keys_frames_have_places)
{
	_free_ char *text =
		export_small_text(export_speedscope, &(struct export_job){.keys = true});

	assert_contains(text,
			"{\"name\":\"mir_built(a::main)\",\"file\":\"src/main.rs\",\"line\":12}");
	assert_int_equal(occurrences(text, "\"file\":"), 1);
}

/* The CPU time first, unless the wall time is asked for. */
TEST_CASE(waits_have_profiles_of_wall_times)
{
	for (int wall = 0; wall < 2; wall++) {
		struct export_job job = {.cause = TRACE_SAMPLE_CPU, .wall = wall};
		size_t size;

		assert_shows(export_of(sampled_build_write, export_speedscope, &job, &size),
			     "\"all compilers, CPU time\"", "\"all compilers, wall time\"",
			     wall ? "\"activeProfileIndex\":1" : "\"activeProfileIndex\":0");
	}
}

/* ---- Pprof ----------------------------------------------------------------------------------- */

/*
 * Compares the unpacked data, because versions of zlib pack differently. With keys, the function
 * with a known place has its file and line, and so has its location.
 */
TEST_CASE(pprof_the_small_trace_is_as_it_was)
{
	for (int keys = 0; keys < 2; keys++) {
		struct export_job job = {.keys = keys};
		size_t size;
		_free_ char *packed = export_small(export_pprof, &job, &size);
		_free_ uint8_t *bytes = page_inflate((uint8_t *)packed, size, &size);

		assert_golden_bytes(keys ? "export/small.keys.pb" : "export/small.pb",
				    (char *)bytes, size);
	}
}

/* ---- Perfetto -------------------------------------------------------------------------------- */

/* The file consists of packets only (field 1). */
TEST_CASE(perfetto_the_small_trace_is_as_it_was)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = export_small(export_perfetto, &job, &size);
	struct byte_reader r = {(uint8_t *)bytes, (uint8_t *)bytes + size, false};

	assert_struct(job, written, 12, left_out, 0);
	assert_golden_bytes("export/small.pftrace", bytes, size);
	while (r.at < r.end) {
		assert_int_equal(byte_reader__varint(&r), 1 << 3 | 2);
		byte_reader__bytes(&r, byte_reader__varint(&r));
		assert_false(r.bad);
	}
}

TEST_CASE(intervals_beyond_the_size_limit_are_left_out)
{
	struct export_job job = {.max_bytes = 300};
	size_t size;
	_free_ char *bytes = export_small(export_perfetto, &job, &size);

	assert_int_equal(job.written + job.left_out, 12);
	/* Each interval counts as 56 bytes, so the five longest fit. */
	assert_int_equal(job.least_ns, 480);
	assert_non_null(memmem(bytes, size, " intervals are left out", 23));
}

/* ---- Protobuf -------------------------------------------------------------------------------- */

TEST_CASE(fields_are_as_the_format_says)
{
	/* 1: 150; 2: "testing"; 3 {1: 150}, as in its description; 44: 1.0; 16: "" */
	static const uint8_t expected[] = {
		0x08, 0x96, 0x01, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n',  'g',  0x1a, 0x03, 0x08,
		0x96, 0x01, 0xe1, 0x02, 0,    0,   0,	0,   0,	  0,   0xf0, 0x3f, 0x82, 0x01, 0};
	__cleanup(byte_buffer__destroy) struct byte_buffer b = {}, inner = {};

	protobuf__varint(&b, 1, 150);
	protobuf__text(&b, 2, "testing");
	protobuf__varint(&inner, 1, 150);
	protobuf__message(&b, 3, &inner);
	protobuf__double(&b, 44, 1.0);
	protobuf__text(&b, 16, "");
	assert_struct(b, failed, false, size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
}

TEST_CASE(texts_are_utf8)
{
	static const uint8_t expected[] = {0x0a, 7, 'a', 0xef, 0xbf, 0xbd, 0xc3, 0xa9, 'b'};
	struct byte_buffer b = {}, empty = {};

	protobuf__text(&b, 1, "a\377\303\251b");
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
	byte_buffer__clear(&b);
	protobuf__message(&b, 1, &empty);
	assert_int_equal(b.size, 2);
	byte_buffer__destroy(&b);
}

/* ---- Perfetto samples ------------------------------------------------------------------------ */

/* tests/e2e/test_sampled_reports.py decodes the format, by its published numbers of fields. */

/* How often a text is in the bytes. */
static unsigned int count(const char *bytes, size_t size, const char *text)
{
	const char *end = bytes + size;
	unsigned int n = 0;

	while ((bytes = memmem(bytes, end - bytes, text, strlen(text)))) {
		bytes += strlen(text);
		n++;
	}
	return n;
}

TEST_CASE(samples_are_as_they_were)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = exported_samples(&job, &size);

	assert_golden_bytes("export/sampled.pftrace", bytes, size);
	assert_int_equal(job.samples_left_out, 0);
	/* A name is sent once in each of the two sequences of samples at most, and in texts of
	 * waits. */
	assert_int_equal(count(bytes, size, "[typeck]"), 3);
	assert_int_equal(count(bytes, size, "CPU time"), 1);
	/* The timebase, and a track for each process of which faults were sampled. */
	assert_int_equal(count(bytes, size, "memory touched"), 3);
	/* Waits have different durations: they are slices, with the stack as a text. */
	assert_int_equal(count(bytes, size, "waits"), 2);
	assert_int_equal(count(bytes, size,
			       "__read\n<jobserver::imp::Client>::acquire_allow_interrupts\n"
			       "std::rt::lang_start"),
			 1);
}

/* One entry of a pass and a function in each stack, and their names once. */
TEST_CASE(what_llvm_compiles_is_in_the_stack)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = export_of(write_llvm, export_perfetto, &job, &size);

	assert_int_equal(count(bytes, size, "[app::generic_big]"), 1);
	assert_int_equal(count(bytes, size, "[InstCombine]"), 1);
	assert_int_equal(count(bytes, size, "[app::huge]"), 1);
	assert_int_equal(count(bytes, size, "[app::small::s"), 100);
}

TEST_CASE(samples_beyond_the_size_limit_are_left_out)
{
	struct export_job job = {.max_bytes = 300};
	size_t size;
	_free_ char *bytes = exported_samples(&job, &size);

	assert_true(job.samples_left_out > 0);
	assert_int_equal(count(bytes, size, "samples are left out, as the file is to be no larger"),
			 1);
}

TEST_MAIN(NULL, NULL)
