// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"

#include "../fixtures/export_trace.h"
#include "../fixtures/page.h"

/* Compares the unpacked data, because versions of zlib pack differently. */
static void the_small_trace_is_as_it_was(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *packed = export_small(export_pprof, &job, &size);
	_free_ uint8_t *bytes = page_inflate((uint8_t *)packed, size, &size);

	assert_golden_bytes("export/small.pb", (char *)bytes, size);
}

/* The function with a known place has its file and line, and so has its location. */
static void with_keys_functions_have_places(void **state)
{
	struct export_job job = {.keys = true};
	size_t size;
	_free_ char *packed = export_small(export_pprof, &job, &size);
	_free_ uint8_t *bytes = page_inflate((uint8_t *)packed, size, &size);

	assert_golden_bytes("export/small.keys.pb", (char *)bytes, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(with_keys_functions_have_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
