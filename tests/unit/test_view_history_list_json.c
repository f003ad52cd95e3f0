// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "../fixtures/schema_fields.h"
#include "view/history_list_view.h"

static struct sample_trend sample;

static char *text_of(size_t n)
{
	const struct history_builds builds = {.at = sample.builds, .n = n};

	return PRINTED(assert_int_equal(history_list_json(to_, &builds), 0));
}

TEST_CASE(a_build_has_all_columns)
{
	_free_ char *text = NULL, *none = text_of(0);

	sample_trend(&sample, 2);
	sample.builds[1].commit = "\033";
	text = text_of(2);
	assert_golden("view/history_list.json", text);
	assert_string_equal(none, "{\"schema\":\"qprof-history/1\",\"builds\":[]}\n");
}

TEST_CASE(every_field_is_in_the_schema)
{
	_free_ char *text = PRINTED(assert_int_equal(history_list_schema(to_), 0)),
		    *document = NULL;
	struct json_object *schema = parsed_json(text), *object;

	sample_trend(&sample, 1);
	document = text_of(1);
	object = parsed_json(document);
	schema_fields = member(schema, "fields");
	schema_check(object, "");
	assert_string_equal(schema_unit_of("builds[].in_compilers_ns"), "ns");
	json_object_put(schema);
	json_object_put(object);
}

TEST_MAIN(NULL, NULL)
