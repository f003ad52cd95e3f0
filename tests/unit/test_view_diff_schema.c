// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_diff.h"
#include "../fixtures/schema_fields.h"

TEST_CASE(every_field_of_a_document_is_listed_with_its_unit)
{
	_free_ char *text = printed_text(diff_schema(out));
	struct json_object *schema = parsed_json(text);
	char *documents[] = {
		sample_diff(diff_json, 5, COMPARE_SELF, 0),
		sample_diff(diff_json, 1, COMPARE_PEAK, 0),
		sample_diff_of(diff_json, sample_comparison_of_items(), COMPARE_COUNT, 0),
	};

	schema_fields = member(schema, "fields");
	assert_string_equal(json_object_get_string(member(schema, "of")), "qprof-diff/5");
	for (size_t i = 0; i < N_OF(documents); i++) {
		struct json_object *document = parsed_json(documents[i]);

		schema_check(document, "");
		json_object_put(document);
		free(documents[i]);
	}
	assert_string_equal(schema_unit_of("build.base.cpu_ns.median"), "ns");
	assert_string_equal(schema_unit_of("build.base.cpu_ns.n"), "count");
	assert_string_equal(schema_unit_of("crates[].new.peak_bytes.max"), "bytes");
	assert_string_equal(schema_unit_of("gates[].change_percent"), "percent");
	assert_string_equal(schema_unit_of("rows[].change_error"), "ns");
	json_object_put(schema);
}

TEST_MAIN(NULL, NULL)
