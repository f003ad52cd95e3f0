// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_pctab.h"

static struct json_object *json_of(const struct pctab_view *view)
{
	_free_ char *text = printed_pctab(pctab_json, view);
	struct json_object *object = json_tokener_parse(text);

	assert_non_null(object);
	return object;
}

TEST_CASE(everything_is_printed)
{
	_free_ char *text = printed_pctab(pctab_json, &sample_pctab_view);

	assert_golden("view/pctab.json", text);
}

TEST_CASE(it_is_json)
{
	struct json_object *object = json_of(&sample_pctab_view);
	struct json_object *speed = member(object, "speed");

	assert_string_equal(json_object_get_string(member(object, "schema")), "qprof-pctab/1");
	assert_int_equal(json_object_get_int(member(member(object, "index"), "u16")), 603);
	assert_int_equal(json_object_array_length(speed), PCTAB_SPEED_CASES);
	json_object_put(object);
}

TEST_CASE(without_times_and_tables_there_is_less)
{
	struct pctab_survey nothing = {};
	struct json_object *object =
		json_of(&(struct pctab_view){.file = "go", .survey = &nothing});

	assert_null(member(object, "size_ratio"));
	assert_int_equal(json_object_array_length(member(object, "speed")), 0);
	json_object_put(object);
}

TEST_MAIN(NULL, NULL)
