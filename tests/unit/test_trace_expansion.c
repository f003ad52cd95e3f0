// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/expansion.h"

#include <glob.h>

#include "test.h"
#include "../fixtures/temporary.h"
#include "trace/reader.h"

/* It expands to more than a reader makes. */
#define TOO_MUCH "tests/golden/expands-too-much.qpt"
#define TOO_MANY "tests/golden/expands-too-many-results.qpt"

/* Read the file to its end and ask for the text of every span. */
static int read_all(const char *path, bool unlimited, struct trace_stats *stats)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_item item;
	int err = trace_reader__open_with(path, unlimited, &r, NULL);

	if (err)
		return err;
	while (!(err = trace_reader__next(r, &item)) && item.kind != TRACE_ITEM_END) {
		if (item.kind == TRACE_ITEM_SPAN)
			trace_reader__event(r, &item.span);
	}
	*stats = trace_reader__stats(r);
	return err;
}

TEST_CASE(files_that_compress_well_are_read)
{
	struct trace_stats stats;
	glob_t files;

	assert_int_equal(glob("tests/golden/expands-*.qpt", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 8);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		if (!strcmp(files.gl_pathv[i], TOO_MUCH) || !strcmp(files.gl_pathv[i], TOO_MANY))
			continue;
		assert_int_equal(read_all(files.gl_pathv[i], false, &stats), 0);
		assert_true(stats.made_bytes > 64 * stats.file_bytes);
	}
	globfree(&files);
}

TEST_CASE(a_file_that_expands_to_too_much_is_refused)
{
	struct trace_stats stats = {};

	assert_int_equal(read_all(TOO_MUCH, false, &stats), -E2BIG);
	assert_true(stats.made_bytes <= QPT_EXPANSION_FREE + QPT_EXPANSION_FACTOR * 10000);
	assert_int_equal(read_all(TOO_MUCH, true, &stats), 0);
	assert_true(stats.made_bytes > QPT_EXPANSION_FREE);
}

/* Each item may be a sum of its own in what reads the trace. */
TEST_CASE(more_results_than_a_writer_lists_are_refused)
{
	struct trace_stats stats = {};

	assert_int_equal(read_all(TOO_MANY, false, &stats), -E2BIG);
	assert_int_equal(read_all(TOO_MANY, true, &stats), 0);
}

/* The headers of its chunks are enough for that. */
TEST_CASE_WITH(a_file_that_promises_too_much_is_not_begun, temporary_make, temporary_remove)
{
	enum { EQUAL = 8, MIB = 4200 };
	_trace_reader_ struct trace_reader *r = NULL;
	FILE *in = fopen("tests/golden/expands-losses.qpt", "re");
	FILE *out = fopen(temporary, "we");
	char bytes[4096];
	size_t size, chunk = 69;
	const char *why;

	assert_true(in && out);
	size = fread(bytes, 1, sizeof(bytes), in);
	assert_true(size < sizeof(bytes) && size > EQUAL * chunk);
	assert_memory_equal(bytes + size - chunk, bytes + size - 2 * chunk, chunk);
	fwrite(bytes, 1, size, out);
	for (int i = EQUAL; i < MIB; i++)
		fwrite(bytes + size - chunk, 1, chunk, out);
	fclose(in);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(trace_reader__open(temporary, &r, &why), -E2BIG);
	assert_string_equal(why, TRACE_REFUSED);
	assert_int_equal(trace_reader__open_with(temporary, true, &r, &why), 0);
}

TEST_CASE(the_expansion_limit_grows_with_the_bytes_read)
{
	struct expansion e = {};

	assert_true(expansion__make(&e, QPT_EXPANSION_FREE));
	expansion__read(&e, 2);
	assert_true(expansion__make(&e, 2 * QPT_EXPANSION_FACTOR));
	assert_false(expansion__make(&e, 1));
	assert_true(e.refused);
	expansion__read(&e, 1000);
	assert_false(expansion__make(&e, 1));
	assert_int_equal(e.made, QPT_EXPANSION_FREE + 2 * QPT_EXPANSION_FACTOR);
}

/* A name that is left out for want of room must not look like one that is not known. */
TEST_CASE(a_text_beyond_the_memory_refuses_the_trace)
{
	struct expansion e = {}, without = {.unlimited = true};
	size_t kept = 90;

	assert_true(expansion__keep(&e, &kept, 10, 100));
	assert_int_equal(kept, 100);
	assert_false(expansion__keep(&e, &kept, 1, 100));
	assert_true(e.refused);
	assert_true(expansion__keep(&without, &kept, 1, 100));
	assert_false(expansion__keep(NULL, &kept, 1, 100));
}

TEST_CASE(nothing_is_refused_without_limits)
{
	struct expansion e = {.unlimited = true};

	assert_true(expansion__make(&e, UINT64_MAX / 2));
	assert_true(expansion__make(NULL, UINT64_MAX));
	assert_false(e.refused);
}

TEST_MAIN(NULL, NULL)
