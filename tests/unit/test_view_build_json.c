// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "../fixtures/output.h"
#include "../fixtures/sample_build.h"

static char *print(const struct build_view *v)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(build_json(out, v), 0);
	fclose(out);
	return text;
}

static void a_build_is_as_agreed(void **state)
{
	struct sample_build s;
	struct build_view v;
	char *text;

	(void)state;
	sample_build__make(&s);
	v = sample_build__view(&s);
	text = print(&v);
	assert_golden("view/build.json", text);
	free(text);
	sample_build__destroy(&s);
}

static void it_is_json(void **state)
{
	struct json_object *object, *crates, *pairs;
	struct sample_build s;
	struct build_view v;
	char *text;

	(void)state;
	sample_build__make(&s);
	v = sample_build__view(&s);
	v.top = 1;
	text = print(&v);
	object = json_tokener_parse(text);
	assert_non_null(object);
	/* Crates are all there, whatever is asked for. */
	crates = json_object_object_get(object, "crates");
	assert_int_equal(json_object_array_length(crates), 4);
	pairs = json_object_object_get(object, "pairs");
	assert_int_equal(json_object_array_length(pairs), 1);
	json_object_put(object);
	free(text);
	sample_build__destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_is_as_agreed),
		cmocka_unit_test(it_is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
