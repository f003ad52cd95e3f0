// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>
#include <sys/mman.h>

#include "test.h"
#include "../fixtures/page.h"
#include "../fixtures/random.h"
#include "export/out.h"

#define MOST 300000

/* Pack `size` bytes in pieces. The caller frees the output. */
static char *pack(const uint8_t *in, size_t size, struct rng *rng)
{
	_close_ int fd = memfd_create("packed", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *p = NULL;
	char *text;

	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, GZIP_BASE64, &p), 0);
	for (size_t i = 0, n; i < size; i += n) {
		n = 1 + rng_below(rng, 50000);
		n = n < size - i ? n : size - i;
		gzip__bytes(p, in + i, n);
	}
	assert_int_equal(gzip__finish(p), 0);
	assert_int_equal(out__flush(out), 0);
	text = calloc(1, out__size(out) + 1);
	assert_int_equal(pread(fd, text, out__size(out), 0), out__size(out));
	return text;
}

static void bytes_survive_a_round_trip(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 9000, MOST};
	static uint8_t in[MOST];
	struct rng rng = rng_new();

	/* The first half is random and cannot be compressed. */
	for (size_t i = 0; i < MOST; i++)
		in[i] = i < MOST / 2 ? (uint8_t)rng_u64(&rng) : 7;
	for (size_t i = 0; i < N_OF(sizes); i++) {
		_free_ char *text = pack(in, sizes[i], &rng);
		size_t size;
		_free_ uint8_t *back = page_unpack(text, &size);

		assert_int_equal(size, sizes[i]);
		assert_memory_equal(back, in, size);
	}
}

static void text_printed_to_the_stream_is_packed(void **state)
{
	_close_ int fd = memfd_create("packed", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *p = NULL;
	char text[256] = "";
	_free_ uint8_t *back = NULL;
	size_t size;
	FILE *f;

	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, GZIP_BASE64, &p), 0);
	f = gzip__stream(p);
	fprintf(f, "%d and %s", 1, "two");
	assert_int_equal(fclose(f), 0);
	assert_int_equal(gzip__finish(p), 0);
	assert_int_equal(out__flush(out), 0);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	back = page_unpack(text, &size);
	assert_string_equal((char *)back, "1 and two");
}

static void a_full_disk_is_reported(void **state)
{
	_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *p = NULL;

	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, GZIP_BASE64, &p), 0);
	gzip__bytes(p, "x", 1);
	assert_int_equal(gzip__finish(p), 0);
	assert_int_equal(out__flush(out), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_survive_a_round_trip),
		cmocka_unit_test(text_printed_to_the_stream_is_packed),
		cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
