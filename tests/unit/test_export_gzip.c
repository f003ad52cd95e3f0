// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>

#include "test.h"

#include <zlib.h>

#include "../fixtures/random.h"
#include "export/gzip.h"
static void bytes_survive_a_round_trip(void **state)
{
	char path[] = "/tmp/qprof-gzip-XXXXXX";
	int fd = mkstemp(path);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *g = NULL;
	struct rng rng = rng_new();
	static uint8_t in[300000], back[sizeof(in) + 1];
	gzFile f;

	/* The first half is random and cannot be compressed. */
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = i < sizeof(in) / 2 ? rng_u64(&rng) : 7;
	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, GZIP_BYTES, &g), 0);
	for (size_t i = 0, n; i < sizeof(in); i += n) {
		n = 1 + rng_below(&rng, 50000);
		n = n < sizeof(in) - i ? n : sizeof(in) - i;
		assert_int_equal(gzip__bytes(g, in + i, n), 0);
	}
	assert_int_equal(gzip__finish(g), 0);
	assert_int_equal(out__flush(out), 0);
	close(fd);
	f = gzopen(path, "rb");
	unlink(path);
	assert_int_equal(gzread(f, back, sizeof(back)), sizeof(in));
	assert_memory_equal(in, back, sizeof(in));
	assert_int_equal(gzclose(f), Z_OK);
}

static void a_full_disk_is_reported(void **state)
{
	_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *g = NULL;

	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, GZIP_BYTES, &g), 0);
	assert_int_equal(gzip__bytes(g, "x", 1), 0);
	assert_int_equal(gzip__finish(g), 0);
	assert_int_equal(out__flush(out), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_survive_a_round_trip),
		cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
