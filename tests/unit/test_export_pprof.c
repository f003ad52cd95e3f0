// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"

#include <zlib.h>

#include "../fixtures/export_trace.h"
/* Compares the unpacked data, because versions of zlib pack differently. */
static void the_small_trace_is_as_it_was(void **state)
{
	static uint8_t unpacked[65536];
	struct export_job job = {};
	size_t size;
	char *bytes = export_small(export_pprof, &job, &size);
	z_stream z = {
		.next_in = (Bytef *)bytes,
		.avail_in = size,
		.next_out = unpacked,
		.avail_out = sizeof(unpacked),
	};

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_golden_bytes("export/small.pb", (char *)unpacked, z.total_out);
	inflateEnd(&z);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
