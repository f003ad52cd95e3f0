// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/live_output.h"

#include "test.h"
#include "../fixtures/output.h"

TEST_CASE(it_counts_what_was_recorded)
{
	const struct closing_line all = {.queries = 5,
					 .others = 2,
					 .hits = 3,
					 .unknown_hits = 1,
					 .compilers = 2,
					 .lost = 4,
					 .place = "a.qpt",
					 .bytes = 2048};
	const struct closing_line few = {
		.queries = 5, .compilers = 1, .place = "a.qpt", .bytes = 2048};
	struct output o;
	const char *text;

	output_begin(&o);
	closing_line__print(&all);
	output_end(&o);
	text = o.text[1];
	assert_non_null(strstr(text, "of 1 cache hits the query is unknown"));
	assert_non_null(strstr(text,
			       "recorded 5 queries, 2 activities and waits, 3 cache hits of 2 "
			       "compilers, 4 lost; wrote a.qpt (2.00 KiB)"));
	output_free(&o);
	output_begin(&o);
	closing_line__print(&few);
	output_end(&o);
	text = o.text[1];
	assert_null(strstr(text, "unknown"));
	assert_non_null(strstr(text, "recorded 5 queries of 1 compiler, 0 lost"));
	output_free(&o);
}

static char *printed(const struct closing_line *l)
{
	struct output o;
	char *text;

	output_begin(&o);
	closing_line__print(l);
	output_end(&o);
	text = strdup(o.text[1]);
	output_free(&o);
	return text;
}

TEST_CASE(samples_are_counted_if_they_were_asked_for)
{
	struct closing_line l = {
		.queries = 5, .sampled = true, .compilers = 1, .place = "a.qpt", .bytes = 2048};
	char *text = printed(&l);

	assert_contains(text, "recorded 5 queries, 0 samples of 1 compiler");
	free(text);
	l.queries = 0;
	l.samples = 70;
	text = printed(&l);
	assert_contains(text, "recorded 70 samples of 1 compiler, 0 lost");
	free(text);
	l.samples_cut = 3;
	l.samples_lost = 2;
	l.others = 1;
	text = printed(&l);
	assert_contains(text,
			"recorded 0 queries, 1 activities and waits, 70 samples (3 with a cut "
			"stack) (2 lost) of 1 compiler");
	free(text);
}

TEST_MAIN(NULL, NULL)
