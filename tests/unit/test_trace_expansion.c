// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/expansion.h"

#include <glob.h>

#include "test.h"
#include "trace/reader.h"

/* Read the file to its end and ask for the text of every span; fills `stats` and `read`. */
static int read_all(const char *path, bool unlimited, struct trace_stats *stats, uint64_t *read)
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
	*read = trace_reader__bytes_read(r);
	return err;
}

static void files_that_expand_are_refused(void **state)
{
	glob_t files;

	assert_int_equal(glob("tests/golden/expands-*.qpt", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 6);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct trace_stats stats = {};
		uint64_t read = 0;

		assert_int_equal(read_all(files.gl_pathv[i], false, &stats, &read), -E2BIG);
		assert_true(stats.made_bytes <= QPT_EXPANSION_FREE + QPT_EXPANSION_FACTOR * read);
		assert_int_equal(read_all(files.gl_pathv[i], true, &stats, &read), 0);
		assert_true(stats.made_bytes > QPT_EXPANSION_FREE + QPT_EXPANSION_FACTOR * read);
	}
	globfree(&files);
}

static void the_expansion_limit_grows_with_the_bytes_read(void **state)
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

static void nothing_is_refused_without_limits(void **state)
{
	struct expansion e = {.unlimited = true};

	assert_true(expansion__make(&e, UINT64_MAX / 2));
	assert_true(expansion__make(NULL, UINT64_MAX));
	assert_false(e.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_expand_are_refused),
		cmocka_unit_test(the_expansion_limit_grows_with_the_bytes_read),
		cmocka_unit_test(nothing_is_refused_without_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
