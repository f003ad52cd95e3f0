// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "base/format.h"
#include "view/history_list_view.h"

static struct sample_trend sample;

static char *text_of(size_t n, uint64_t all, size_t width)
{
	const struct history_builds builds = {.at = sample.builds, .n = n};

	return PRINTED(assert_int_equal(history_list_text(to_, &builds, all, width), 0));
}

TEST_CASE(a_line_says_what_was_built_and_how_long_it_took)
{
	_free_ char *text = NULL;

	sample_trend(&sample, 4);
	sample.builds[1].dirty = 1;
	sample.builds[1].label = "nightly";
	sample.builds[2].commit = sample.builds[2].branch = sample.builds[2].toolchain = NULL;
	sample.builds[2].state = "unfinished";
	sample.builds[3].failed = 2;
	sample.builds[3].peak_bytes = HISTORY_UNKNOWN;
	sample.builds[3].lost = 7;
	text = text_of(4, 0, 0);
	assert_golden("view/history_list.txt", text);
}

TEST_CASE(narrow_terminals_get_what_fits)
{
	_free_ char *text = NULL;

	sample_trend(&sample, 3);
	text = text_of(3, 0, 50);
	assert_contains(text, "hidden columns: ");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strstr(line, "hidden") || format_width(line) <= 50);
}

TEST_CASE(older_builds_are_counted)
{
	_free_ char *text = NULL, *none = text_of(0, 40, 80);

	sample_trend(&sample, 45);
	text = text_of(40, 45, 80);
	assert_int_equal(occurrences(text, "main"), 40);
	assert_contains(text, "\n  and 5 older: --last 45 shows all\n");
	assert_contains(none, "No builds. ");
}

TEST_CASE(hostile_names_do_not_reach_the_terminal)
{
	_free_ char *text = NULL;

	sample_trend(&sample, 1);
	sample.builds[0].commit = "\033[31m";
	sample.builds[0].branch = "\n\033[2J";
	sample.builds[0].label = "\r";
	sample.builds[0].state = "\007";
	sample.builds[0].toolchain = "rustc \033c";
	text = text_of(1, 0, 0);
	assert_null(strpbrk(text, "\033\r\007"));
	assert_int_equal(occurrences(text, "\n"), 2);
}

TEST_MAIN(NULL, NULL)
