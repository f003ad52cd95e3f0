// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/export_trace.h"
#include "trace/bytes.h"
static void the_small_trace_is_as_it_was(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = export_small(export_perfetto, &job, &size);

	assert_int_equal(job.written, 12);
	assert_int_equal(job.left_out, 0);
	assert_golden_bytes("export/small.pftrace", bytes, size);
}

/* The file consists of packets only (field 1). */
static void it_is_packets(void **state)
{
	struct export_job job = {};
	size_t size;
	_free_ char *bytes = export_small(export_perfetto, &job, &size);
	struct byte_reader r = {(uint8_t *)bytes, (uint8_t *)bytes + size, false};

	while (r.at < r.end) {
		assert_int_equal(byte_reader__varint(&r), 1 << 3 | 2);
		byte_reader__bytes(&r, byte_reader__varint(&r));
		assert_false(r.bad);
	}
}

static void intervals_beyond_the_size_limit_are_left_out(void **state)
{
	struct export_job job = {.max_bytes = 300};
	size_t size;
	_free_ char *bytes = export_small(export_perfetto, &job, &size);

	assert_int_equal(job.written + job.left_out, 12);
	/* Each interval counts as 56 bytes, so the five longest fit. */
	assert_int_equal(job.least_ns, 480);
	assert_non_null(memmem(bytes, size, " intervals are left out", 23));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_as_it_was),
		cmocka_unit_test(it_is_packets),
		cmocka_unit_test(intervals_beyond_the_size_limit_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
