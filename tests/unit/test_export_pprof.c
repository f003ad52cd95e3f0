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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
