// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_diff.h"

TEST_CASE(the_document_is_stable_and_valid)
{
	_free_ char *text = sample_diff(diff_json, 5, COMPARE_SELF, 1);
	struct json_object *object;

	assert_golden("view/diff.json", text);
	object = parsed_json(text);
	assert_int_equal(json_object_array_length(member(object, "rows")),
			 6); /* --top does not limit them */
	json_object_put(object);
}

TEST_CASE(unknown_values_are_null)
{
	char *text = sample_diff(diff_json, 1, COMPARE_COUNT, 0);

	assert_contains(text, "\"metric\":\"count\"");
	assert_contains(text, "\"noise\":null");
	assert_contains(
		text,
		"\"change_percent\":null,\"compared\":true,\"significant\":true,\"base\":null,");
	free(text);
	text = sample_diff(diff_json, 1, COMPARE_SELF, 0);
	assert_contains(text, "\"noise\":{\"percent\":");
	free(text);
}

static int with_other_recordings(FILE *out, const struct diff_view *v)
{
	_free_ struct diff_trace *traces = calloc(v->n_traces, sizeof(*traces));
	struct diff_view with = *v;

	assert_non_null(traces);
	memcpy(traces, v->traces, v->n_traces * sizeof(*traces));
	traces[v->n_traces - 1].recording.n_beside = 2;
	with.traces = traces;
	return diff_json(out, &with);
}

TEST_CASE(recordings_beside_a_trace_are_a_difference)
{
	_free_ char *without = sample_diff(diff_json, 1, COMPARE_SELF, 0);
	_free_ char *with = sample_diff(with_other_recordings, 1, COMPARE_SELF, 0);

	assert_null(strstr(without, "\"other_recordings\"]"));
	assert_contains(with, "\"other_recordings\"],");
}

TEST_CASE(items_are_no_queries)
{
	_free_ char *text =
		sample_diff_of(diff_json, sample_comparison_of_items(), COMPARE_SELF, 0);
	struct json_object *object = parsed_json(text), *items = member(object, "items"), *row;

	assert_string_equal(json_object_get_string(member(object, "by")), "query");
	assert_int_equal(json_object_array_length(member(object, "rows")), 5);
	assert_int_equal(json_object_array_length(items), 5);
	row = json_object_array_get_idx(items, 0);
	assert_string_equal(json_object_get_string(member(row, "item")), "app::parse::f");
	assert_false(json_object_object_get_ex(row, "query", NULL));
	assert_false(json_object_object_get_ex(row, "crate", NULL));
	assert_false(json_object_object_get_ex(member(row, "new"), "total_ns", NULL));
	assert_contains(text, "{\"item\":null,\"change\":0,");
	json_object_put(object);
}

TEST_MAIN(NULL, NULL)
