// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_diff.h"

static struct json_object *schema;

/* The definition that a member refers to, or the member itself. */
static struct json_object *resolved(struct json_object *type)
{
	struct json_object *ref;

	if (!json_object_object_get_ex(type, "$ref", &ref))
		return type;
	return member(member(schema, "$defs"), strrchr(json_object_get_string(ref), '/') + 1);
}

static bool allows(struct json_object *type, const char *name)
{
	struct json_object *allowed = member(type, "type");

	if (json_object_is_type(allowed, json_type_string))
		return !strcmp(json_object_get_string(allowed), name);
	for (size_t i = 0; i < json_object_array_length(allowed); i++) {
		if (!strcmp(json_object_get_string(json_object_array_get_idx(allowed, i)), name))
			return true;
	}
	return false;
}

/* Fail if the value is not of this type. `type` has the names of all members of objects. */
static void check(struct json_object *value, struct json_object *type)
{
	static const char *const names[] = {
		[json_type_null] = "null",     [json_type_boolean] = "boolean",
		[json_type_double] = "number", [json_type_int] = "integer",
		[json_type_object] = "object", [json_type_array] = "array",
		[json_type_string] = "string"};

	type = resolved(type);
	if (!allows(type, names[json_object_get_type(value)]))
		fail_msg("%s is no %s", json_object_to_json_string(value),
			 json_object_to_json_string(member(type, "type")));
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			check(json_object_array_get_idx(value, i), member(type, "items"));
	} else if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach (value, key, of)
			check(of, member(member(type, "properties"), key));
	}
}

static void documents_are_as_the_schema_says(void **state)
{
	_free_ char *text = printed_text((diff_schema(out), 0));
	char *documents[] = {
		sample_diff(diff_json, 5, COMPARE_SELF, 0),
		sample_diff(diff_json, 1, COMPARE_PEAK, 0),
		sample_diff_of(diff_json, sample_comparison_of_items(), COMPARE_COUNT, 0),
	};

	schema = parsed_json(text);
	assert_string_equal(json_object_get_string(member(schema, "$id")), "qprof-diff/3");
	for (size_t i = 0; i < N_OF(documents); i++) {
		struct json_object *document = parsed_json(documents[i]);

		check(document, schema);
		assert_int_equal(json_object_object_length(document),
				 json_object_object_length(member(schema, "properties")));
		json_object_put(document);
		free(documents[i]);
	}
	json_object_put(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_as_the_schema_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
