// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_diff.h"

static struct json_object *fields;

/* The unit of a field; fails if it is not listed, or twice. */
static const char *unit_of(const char *path)
{
	const char *unit = NULL;

	for (size_t i = 0; i < json_object_array_length(fields); i++) {
		struct json_object *f = json_object_array_get_idx(fields, i);

		if (strcmp(json_object_get_string(member(f, "path")), path) != 0)
			continue;
		if (unit)
			fail_msg("%s is listed twice", path);
		unit = json_object_get_string(member(f, "unit"));
	}
	if (!unit)
		fail_msg("no %s", path);
	return unit;
}

/* Look up all fields of an object. */
static void check(struct json_object *object, const char *at)
{
	json_object_object_foreach (object, key, value) {
		char path[128];

		snprintf(path, sizeof(path), "%s%s%s", at, *at ? "." : "", key);
		unit_of(path);
		if (json_object_is_type(value, json_type_object))
			check(value, path);
		if (!json_object_is_type(value, json_type_array))
			continue;
		strncat(path, "[]", sizeof(path) - strlen(path) - 1);
		for (size_t i = 0; i < json_object_array_length(value); i++) {
			struct json_object *of = json_object_array_get_idx(value, i);

			if (json_object_is_type(of, json_type_object))
				check(of, path);
		}
	}
}

static void every_field_of_a_document_is_listed_with_its_unit(void **state)
{
	_free_ char *text = printed_text(diff_schema(out));
	struct json_object *schema = parsed_json(text);
	char *documents[] = {
		sample_diff(diff_json, 5, COMPARE_SELF, 0),
		sample_diff(diff_json, 1, COMPARE_PEAK, 0),
		sample_diff_of(diff_json, sample_comparison_of_items(), COMPARE_COUNT, 0),
	};

	fields = member(schema, "fields");
	assert_string_equal(json_object_get_string(member(schema, "of")), "qprof-diff/5");
	for (size_t i = 0; i < N_OF(documents); i++) {
		struct json_object *document = parsed_json(documents[i]);

		check(document, "");
		json_object_put(document);
		free(documents[i]);
	}
	assert_string_equal(unit_of("build.base.cpu_ns.median"), "ns");
	assert_string_equal(unit_of("build.base.cpu_ns.n"), "count");
	assert_string_equal(unit_of("crates[].new.peak_bytes.max"), "bytes");
	assert_string_equal(unit_of("gates[].change_percent"), "percent");
	assert_string_equal(unit_of("rows[].change_error"), "ns");
	json_object_put(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_document_is_listed_with_its_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
