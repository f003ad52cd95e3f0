// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk_stream.h"

#include <sys/mman.h>

#include "test.h"
#include "base/cleanup.h"

/* A file of two chunks: "opaque" in an unknown type, and 100 times 'z' as zstd. */
struct file {
	struct byte_buffer bytes;
	size_t second;
	int fd;
};

static void add_chunk(struct file *f, struct chunk_header h, const uint8_t *payload)
{
	uint8_t header[QPT_CHUNK_HEADER_SIZE];

	chunk_header__store(header, &h, payload);
	byte_buffer__bytes(&f->bytes, header, sizeof(header));
	byte_buffer__bytes(&f->bytes, payload, h.stored);
}

static struct file make(void)
{
	uint8_t header[QPT_HEADER_SIZE];
	uint8_t plain[100], packed[200];
	struct file f = {.fd = -1};
	size_t n;

	file_header__store(header);
	bytes_store_u32(header + QPT_HEADER_STATE, QPT_STATE_FINISHED);
	byte_buffer__bytes(&f.bytes, header, sizeof(header));
	add_chunk(&f, (struct chunk_header){.type = 99, .flags = 0xff, .stored = 6, .raw = ~0u},
		  (const uint8_t *)"opaque");
	f.second = f.bytes.size;
	memset(plain, 'z', sizeof(plain));
	n = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 1);
	add_chunk(&f,
		  (struct chunk_header){
			  .type = QPT_LOSSES, .flags = QPT_CHUNK_ZSTD, .stored = n, .raw = 100},
		  packed);
	return f;
}

/* Open the first `size` bytes. */
static int open_cut(struct file *f, size_t size, struct chunk_stream *s, const char **why)
{
	char path[40];

	cleanup_close_p(&f->fd);
	f->fd = memfd_create("chunks", MFD_CLOEXEC);
	assert_int_equal(write(f->fd, f->bytes.data, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	return chunk_stream__open(s, path, why);
}

static void destroy(struct file *f)
{
	cleanup_close_p(&f->fd);
	byte_buffer__destroy(&f->bytes);
}
#define _file_ __cleanup(destroy)

static void chunks_come_unpacked(void **state)
{
	struct chunk_stream s;
	_file_ struct file f = make();
	const char *why;

	assert_int_equal(open_cut(&f, f.bytes.size, &s, &why), 0);
	assert_int_equal(chunk_stream__next(&s), 0);
	assert_false(s.stopped);
	assert_int_equal(s.header.type, 99);
	assert_memory_equal(s.payload.at, "opaque", 6);
	chunk_stream__taken(&s);
	assert_int_equal(chunk_stream__next(&s), 0);
	assert_int_equal(s.header.type, QPT_LOSSES);
	assert_int_equal(s.payload.end - s.payload.at, 100);
	assert_int_equal(s.payload.at[99], 'z');
	chunk_stream__end(&s);
	assert_true(s.stopped);
	assert_string_equal(s.problem, "");
	chunk_stream__destroy(&s);
}

static void every_cut_stops_at_the_last_whole_chunk(void **state)
{
	struct chunk_stream s;
	_file_ struct file f = make();
	const char *why;

	for (size_t size = QPT_HEADER_SIZE; size < f.bytes.size; size++) {
		int taken = 0;

		assert_int_equal(open_cut(&f, size, &s, &why), 0);
		s.whole_end = s.offset;
		while (!chunk_stream__next(&s) && !s.stopped) {
			chunk_stream__taken(&s);
			taken++;
		}
		assert_int_equal(taken, size >= f.second);
		assert_int_equal(s.whole_end, taken ? f.second : QPT_HEADER_SIZE);
		assert_int_equal(strncmp(s.problem, "cut short at byte ", 18), 0);
		chunk_stream__destroy(&s);
	}
}

static void the_first_problem_stays(void **state)
{
	struct chunk_stream s;
	_file_ struct file f = make();
	const char *why;

	assert_int_equal(open_cut(&f, f.bytes.size, &s, &why), 0);
	assert_int_equal(chunk_stream__next(&s), 0);
	chunk_stream__damaged(&s, "first");
	chunk_stream__damaged(&s, "second");
	chunk_stream__end(&s);
	assert_int_equal(chunk_stream__next(&s), 0);
	assert_string_equal(s.problem, "damaged at byte 32: first");
	chunk_stream__destroy(&s);
}

static void a_short_header_is_refused(void **state)
{
	struct chunk_stream s;
	_file_ struct file f = make();
	const char *why;

	for (size_t size = 0; size < QPT_HEADER_SIZE; size++) {
		assert_int_equal(open_cut(&f, size, &s, &why), -EBADMSG);
		chunk_stream__destroy(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_come_unpacked),
		cmocka_unit_test(every_cut_stops_at_the_last_whole_chunk),
		cmocka_unit_test(the_first_problem_stays),
		cmocka_unit_test(a_short_header_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
