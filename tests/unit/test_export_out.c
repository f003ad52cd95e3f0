// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>
#include <zlib.h>
#include <sys/mman.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/random.h"
#include "../fixtures/page.h"
#include "export/out.h"
/* The output of `call`, which writes to `o`; the caller frees it. */
#define WRITTEN(call)                                          \
	({                                                     \
		char path_[] = "/tmp/qprof-out-XXXXXX";        \
		_close_ int fd_ = mkstemp(path_);              \
		_out_ struct out *o = NULL;                    \
		char *text_;                                   \
                                                               \
		assert_int_equal(out__new(fd_, &o), 0);        \
		call;                                          \
		assert_int_equal(out__flush(o), 0);            \
		text_ = output_read(path_);                    \
		assert_int_equal(strlen(text_), out__size(o)); \
		unlink(path_);                                 \
		text_;                                         \
	})

#define assert_written(call, expected)               \
	do {                                         \
		_free_ char *text = WRITTEN(call);   \
                                                     \
		assert_string_equal(text, expected); \
	} while (0)

TEST_CASE(texts_stay_in_what_they_are_in)
{
	assert_written(out__number(o, 0), "0");
	assert_written(out__number(o, UINT64_MAX), "18446744073709551615");
	assert_written(out__json(o, "a\"\\\n\x1f\x7f/\xc3\xa9\xff\xed\xa0\x80"),
		       "\"a\\\"\\\\\\u000a\\u001f\\u007f/\xc3\xa9\xef\xbf\xbd"
		       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_written(out__plain(o, "a;b,\nc\x7f d\xc3\xa9\xff\xc2\x85\xe2\x80\xa8", ";,", '_'),
		       "a_b__c_ d\xc3\xa9\xef\xbf\xbd__");
}

TEST_CASE(text_larger_than_the_buffer_keeps_its_order)
{
	static char large[200001];
	_free_ char *text = NULL;

	memset(large, '-', sizeof(large) - 1);
	text = WRITTEN({
		out__text(o, "x");
		out__text(o, large);
		out__text(o, "y");
	});
	assert_int_equal(strlen(text), sizeof(large) + 1);
	assert_int_equal(text[0], 'x');
	assert_int_equal(text[sizeof(large)], 'y');
}

TEST_CASE(the_first_error_stays)
{
	_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	_out_ struct out *o = NULL;

	assert_int_equal(out__new(fd, &o), 0);
	out__text(o, "x");
	assert_int_equal(out__error(o), 0);
	assert_int_equal(out__flush(o), -ENOSPC);
	assert_int_equal(out__error(o), -ENOSPC);
	assert_int_equal(out__flush(o), -ENOSPC);
}

/* ---- Gzip ------------------------------------------------------------------------------------ */

#define MOST 300000

/* Pack `size` bytes in pieces. The caller frees the output, which has a NUL after it. */
static char *pack(enum gzip_form format, const uint8_t *in, size_t size, struct rng *rng,
		  size_t *packed)
{
	_close_ int fd = memfd_create("packed", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *g = NULL;
	char *text;

	assert_int_equal(out__new(fd, &out), 0);
	assert_int_equal(gzip__new(out, format, &g), 0);
	for (size_t i = 0, n; i < size; i += n) {
		n = 1 + rng_below(rng, 50000);
		n = n < size - i ? n : size - i;
		assert_int_equal(gzip__bytes(g, in + i, n), 0);
	}
	assert_int_equal(gzip__finish(g), 0);
	assert_int_equal(out__flush(out), 0);
	*packed = out__size(out);
	text = calloc(1, *packed + 1);
	assert_int_equal(pread(fd, text, *packed, 0), *packed);
	return text;
}

TEST_CASE(bytes_survive_a_round_trip)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 9000, MOST};
	static uint8_t in[MOST];
	struct rng rng = rng_new();

	/* The first half is random and cannot be compressed. */
	for (size_t i = 0; i < MOST; i++)
		in[i] = i < MOST / 2 ? (uint8_t)rng_u64(&rng) : 7;
	for (size_t i = 0; i < N_OF(sizes); i++) {
		size_t n, size;
		_free_ char *bytes = pack(GZIP_BYTES, in, sizes[i], &rng, &n);
		_free_ uint8_t *inflated = page_inflate((uint8_t *)bytes, n, &n);
		_free_ char *text = pack(GZIP_BASE64, in, sizes[i], &rng, &size);
		_free_ uint8_t *unpacked = page_unpack(text, &size);

		assert_int_equal(n, sizes[i]);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(inflated, in, n);
		assert_memory_equal(unpacked, in, n);
	}
}

TEST_CASE(text_printed_to_the_stream_is_packed)
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

TEST_CASE(a_full_disk_is_reported)
{
	static const enum gzip_form formats[] = {GZIP_BYTES, GZIP_BASE64};

	for (size_t i = 0; i < N_OF(formats); i++) {
		_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
		_out_ struct out *out = NULL;
		_gzip_ struct gzip *g = NULL;

		assert_int_equal(out__new(fd, &out), 0);
		assert_int_equal(gzip__new(out, formats[i], &g), 0);
		assert_int_equal(gzip__bytes(g, "x", 1), 0);
		assert_int_equal(gzip__finish(g), 0);
		assert_int_equal(out__flush(out), -ENOSPC);
	}
}

TEST_MAIN(NULL, NULL)
