// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <math.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "../fixtures/schema_fields.h"
#include "view/trend_view.h"

static struct sample_trend sample;

static char *text_of(void)
{
	return PRINTED(assert_int_equal(trend_json(to_, &sample.trend), 0));
}

static void a_sample_is_as_agreed(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = text_of();
	assert_golden("view/trend.json", text);
}

static void a_change_from_nothing_has_no_ratio(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	sample.change.change = INFINITY;
	text = text_of();
	assert_contains(text, "\"change\":null,\"confidence\":0.999120");
}

static void every_field_is_in_the_schema(void **state)
{
	_free_ char *text = PRINTED(assert_int_equal(trend_schema(to_), 0)), *document = NULL;
	struct json_object *schema = parsed_json(text), *object;

	sample_trend(&sample, SAMPLE_BUILDS);
	document = text_of();
	object = parsed_json(document);
	schema_fields = member(schema, "fields");
	schema_check(object, "");
	assert_string_equal(schema_unit_of("changes[].change"), "ratio");
	json_object_put(schema);
	json_object_put(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_is_as_agreed),
		cmocka_unit_test(a_change_from_nothing_has_no_ratio),
		cmocka_unit_test(every_field_is_in_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
