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

TEST_CASE(bytes_survive_a_round_trip)
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

TEST_CASE(a_full_disk_is_reported)
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

/* ---- Gzip base64 ----------------------------------------------------------------------------- */

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

TEST_CASE(gzip_base64_bytes_survive_a_round_trip)
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

TEST_CASE(gzip_base64_a_full_disk_is_reported)
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

TEST_MAIN(NULL, NULL)
