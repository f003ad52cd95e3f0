// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/schema.h"

#include "test.h"
#include "base/cleanup.h"

static void each_field_has_its_path(void **state)
{
	struct schema s;
	_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	schema__begin(&s, out, "qprof-x/1");
	schema__field(&s, "", "n", "count", "how many");
	schema__field(&s, "rows[]", "ns", "ns", "how long");
	assert_int_equal(schema__end(&s), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"schema\":\"qprof-fields/1\",\"of\":\"qprof-x/1\""));
	assert_non_null(strstr(text, "{\"path\":\"n\",\"unit\":\"count\",\"text\":\"how many\"}"));
	assert_non_null(
		strstr(text, "{\"path\":\"rows[].ns\",\"unit\":\"ns\",\"text\":\"how long\"}"));
	assert_string_equal(text + size - 3, "]}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_has_its_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
