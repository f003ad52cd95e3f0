// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <math.h>

#include "../fixtures/output.h"
#include "../fixtures/page.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_trend.h"
#include "export/trends_page.h"
#include "test.h"

static struct sample_trend sample;

/* The document of a page with the sample's trend and the builds [first, n). */
static char *document_of(size_t first, size_t n)
{
	const struct history_builds builds = {.at = sample.builds + first, .n = n - first};
	const struct history_filter filter = {.branch = "main"};
	_trends_page_ struct trends_page *page = NULL;
	_out_ struct out *out = NULL;
	_fclose_ FILE *f = tmpfile();
	char *text = calloc(1, 1 << 20);
	char *block;
	size_t size;

	assert_non_null(f);
	assert_non_null(text);
	assert_int_equal(out__new(fileno(f), &out), 0);
	assert_int_equal(trends_page__new(out, &builds, &filter, "a \"store\"", &page), 0);
	assert_int_equal(trends_page__add(page, &sample.trend), 0);
	assert_int_equal(trends_page__finish(page), 0);
	assert_int_equal(out__flush(out), 0);
	rewind(f);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 1000);
	block = (char *)page_block(text, "trends", &size);
	free(text);
	return block;
}

static struct json_object *trend_of(struct json_object *document)
{
	return json_object_array_get_idx(member(document, "trends"), 0);
}

TEST_CASE(points_refer_to_builds_by_number)
{
	struct json_object *document, *trend, *point;
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	sample.points[3].value = HISTORY_UNKNOWN;
	sample.change.change = INFINITY;
	text = document_of(0, SAMPLE_BUILDS);
	document = parsed_json(text);
	trend = trend_of(document);
	assert_string_equal(json_object_get_string(member(document, "store")), "a \"store\"");
	assert_int_equal(json_object_array_length(member(trend, "points")), SAMPLE_BUILDS);
	point = json_object_array_get_idx(member(trend, "points"), SAMPLE_LOST);
	assert_int_equal(json_object_get_int(json_object_array_get_idx(point, 0)), SAMPLE_LOST);
	assert_non_null(json_object_array_get_idx(point, 2));
	point = json_object_array_get_idx(member(trend, "points"), 3);
	assert_null(json_object_array_get_idx(point, 1));
	assert_null(member(json_object_array_get_idx(member(trend, "changes"), 0), "change"));
	json_object_put(document);
}

/* A build may be added between two questions. */
TEST_CASE(points_of_other_builds_are_left_out)
{
	struct json_object *document, *changes, *point;
	_free_ char *text = NULL, *without = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = document_of(10, SAMPLE_BUILDS);
	document = parsed_json(text);
	assert_int_equal(json_object_array_length(member(trend_of(document), "points")),
			 SAMPLE_BUILDS - 10);
	changes = member(trend_of(document), "changes");
	point = member(json_object_array_get_idx(changes, 0), "point");
	assert_int_equal(json_object_get_int(point), SAMPLE_CHANGED - 10);
	json_object_put(document);
	/* The change goes with its build. */
	without = document_of(SAMPLE_CHANGED + 1, SAMPLE_BUILDS);
	document = parsed_json(without);
	assert_int_equal(json_object_array_length(member(trend_of(document), "changes")), 0);
	json_object_put(document);
}

TEST_MAIN(NULL, NULL)
