// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk.h"

#include "test.h"
#include "trace/bytes.h"
#include "trace/chunk_sink.h"
#include "trace/chunk_stream.h"
#include "../fixtures/random.h"
#include "../fixtures/directory.h"
#include "../fixtures/disk.h"
#include "qprof/trace_format.h"
#include <sys/mman.h>
#include "base/cleanup.h"

static void sign(uint8_t *header)
{
	bytes_store_u32(header + QPT_HEADER_CRC, crc32c(0, header, QPT_HEADER_CRC));
}

TEST_CASE(a_new_header_is_unfinished)
{
	uint8_t bytes[QPT_HEADER_SIZE];
	struct file_header h;
	const char *why = NULL;

	file_header__store(bytes);
	assert_int_equal(file_header__load(bytes, &h, &why), 0);
	assert_struct(h, size, QPT_HEADER_SIZE, finished, false);
	bytes_store_u32(bytes + QPT_HEADER_STATE, QPT_STATE_FINISHED);
	assert_int_equal(file_header__load(bytes, &h, &why), 0);
	assert_true(h.finished);
	assert_null(why);
	/* Only one value marks a file as finished. */
	bytes_store_u32(bytes + QPT_HEADER_STATE, 1);
	assert_int_equal(file_header__load(bytes, &h, &why), 0);
	assert_false(h.finished);
}

static const char *why;

TEST_CASE(every_byte_of_a_header_counts)
{
	uint8_t bytes[QPT_HEADER_SIZE];
	struct file_header h;

	file_header__store(bytes);
	for (int i = 0; i < QPT_HEADER_STATE; i++) {
		bytes[i] ^= 0x40;
		assert_int_equal(file_header__load(bytes, &h, &why), -EBADMSG);
		bytes[i] ^= 0x40;
	}
}

TEST_CASE(an_unsupported_version_is_distinguished_from_damage)
{
	uint8_t bytes[QPT_HEADER_SIZE];
	struct file_header h;

	file_header__store(bytes);
	bytes_store_u16(bytes + QPT_HEADER_VERSION, QPT_VERSION + 1);
	sign(bytes);
	assert_int_equal(file_header__load(bytes, &h, &why), -EPROTONOSUPPORT);
	bytes_store_u16(bytes + QPT_HEADER_VERSION, 0);
	sign(bytes);
	assert_int_equal(file_header__load(bytes, &h, &why), -EBADMSG);
	file_header__store(bytes);
	bytes_store_u16(bytes + QPT_HEADER_HEADER_SIZE, QPT_HEADER_SIZE_MAX + 1);
	sign(bytes);
	assert_int_equal(file_header__load(bytes, &h, &why), -EBADMSG);
}

TEST_CASE(a_chunk_header_guards_its_payload)
{
	struct chunk_header h = {.type = QPT_SPANS, .flags = QPT_CHUNK_ZSTD, .stored = 5, .raw = 9};
	uint8_t payload[5] = "abcde";
	uint8_t bytes[QPT_CHUNK_HEADER_SIZE];
	struct chunk_header back;

	chunk_header__store(bytes, &h, payload);
	chunk_header__load(bytes, &back);
	assert_struct(back, type, QPT_SPANS, flags, QPT_CHUNK_ZSTD, reserved, 0, stored, 5, raw, 9);
	assert_true(chunk_header__check(bytes, &back, payload));
	payload[4] ^= 1;
	assert_false(chunk_header__check(bytes, &back, payload));
	payload[4] ^= 1;
	bytes[QPT_CHUNK_TYPE] = QPT_END;
	assert_false(chunk_header__check(bytes, &back, payload));
}

/* ---- Crc32c ---------------------------------------------------------------------------------- */

/* RFC 3720, appendix B.4, and the check value of the CRC catalogues. */
TEST_CASE(it_is_castagnolis)
{
	uint8_t bytes[32];

	assert_true(crc32c(0, "", 0) == 0);
	assert_true(crc32c(0, "123456789", 9) == 0xe3069283u);
	memset(bytes, 0, sizeof(bytes));
	assert_true(crc32c(0, bytes, sizeof(bytes)) == 0x8a9136aau);
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(crc32c(0, bytes, sizeof(bytes)) == 0x62a8ab43u);
	for (int i = 0; i < 32; i++)
		bytes[i] = i;
	assert_true(crc32c(0, bytes, sizeof(bytes)) == 0x46dd794eu);
}

TEST_CASE(it_goes_on_at_any_place)
{
	struct rng rng = rng_new();
	uint8_t bytes[300];
	uint32_t whole;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = rng_u64(&rng);
	whole = crc32c(0, bytes, sizeof(bytes));
	for (size_t i = 0; i <= sizeof(bytes); i++)
		assert_true(crc32c(crc32c(0, bytes, i), bytes + i, sizeof(bytes) - i) == whole);
}

TEST_CASE(every_way_gives_the_same)
{
	struct rng rng = rng_new();
	uint8_t bytes[300];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = rng_u64(&rng);
	for (size_t i = 0; i <= sizeof(bytes); i++)
		assert_true(crc32c(i, bytes + i, sizeof(bytes) - i) ==
			    crc32c_by_table(i, bytes + i, sizeof(bytes) - i));
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

TEST_CASE(numbers_are_little_endian)
{
	const uint8_t bytes[8] = {0x01, 0x02, 0x03, 0x84, 0x05, 0x06, 0x07, 0x88};
	uint8_t back[4];

	assert_int_equal(bytes_load_u16(bytes), 0x0201);
	assert_true(bytes_load_u32(bytes) == 0x84030201u);
	assert_true(bytes_load_u64(bytes) == 0x8807060584030201u);
	bytes_store_u32(back, 0x84030201u);
	assert_memory_equal(back, bytes, 4);
	bytes_store_u16(back, 0x8403);
	assert_memory_equal(back, bytes + 2, 2);
}

TEST_CASE(varints_come_back)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 10000; i++) {
		uint64_t v = i ? rng_any_size(&rng) : UINT64_MAX;
		uint8_t bytes[BYTES_VARINT_MAX];
		const uint8_t *end = bytes_store_varint(bytes, v);
		struct byte_reader whole = {.at = bytes, .end = end};
		struct byte_reader cut = {.at = bytes, .end = end - 1};

		assert_true(byte_reader__varint(&whole) == v);
		assert_false(whole.bad);
		assert_ptr_equal(whole.at, end);
		assert_true(byte_reader__varint(&cut) == 0);
		assert_true(cut.bad);
	}
}

TEST_CASE(zigzag_folds_the_sign)
{
	struct rng rng = rng_new();

	assert_int_equal(bytes_zigzag(0), 0);
	assert_int_equal(bytes_zigzag(-1), 1);
	assert_int_equal(bytes_zigzag(1), 2);
	assert_true(bytes_zigzag((uint64_t)INT64_MIN) == UINT64_MAX);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = rng_u64(&rng);

		assert_true(bytes_unzigzag(bytes_zigzag(v)) == v);
	}
}

TEST_CASE(malformed_varints_are_refused)
{
	static const struct {
		uint8_t bytes[12];
		size_t size;
	} cases[] = {
		{{0}, 0},
		{{0x80}, 1},
		{{0x80, 0x00}, 2}, /* longer than necessary */
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01}, 11},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct byte_reader r = {cases[i].bytes, cases[i].bytes + cases[i].size, false};

		assert_true(byte_reader__varint(&r) == 0);
		assert_true(r.bad);
		assert_ptr_equal(r.at, r.end);
	}
}

TEST_CASE(a_bad_reader_reads_zeroes)
{
	const uint8_t bytes[] = {5, 1, 2, 3};
	struct byte_reader r = {bytes, bytes + sizeof(bytes), false};

	assert_int_equal(byte_reader__varint_max(&r, 4), 0);
	assert_true(r.bad);
	assert_int_equal(byte_reader__varint(&r), 0);
	assert_null(byte_reader__bytes(&r, 1));
}

TEST_CASE(bytes_are_taken_within_bounds)
{
	const uint8_t bytes[] = {1, 2, 3};
	struct byte_reader r = {bytes, bytes + sizeof(bytes), false};

	assert_int_equal(byte_reader__varint_max(&r, 1), 1);
	assert_ptr_equal(byte_reader__bytes(&r, 2), bytes + 1);
	assert_false(r.bad);
	assert_null(byte_reader__bytes(&r, SIZE_MAX));
	assert_true(r.bad);
}

TEST_CASE(a_buffer_grows)
{
	struct byte_buffer b = {0};
	struct byte_reader r;

	for (uint64_t i = 0; i < 1000; i++) {
		byte_buffer__varint(&b, i * i);
		byte_buffer__bytes(&b, "abc", i % 4);
	}
	assert_false(b.failed);
	r = (struct byte_reader){.at = b.data, .end = b.data + b.size};
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(byte_reader__varint(&r), i * i);
		assert_memory_equal(byte_reader__bytes(&r, i % 4), "abc", i % 4);
	}
	assert_ptr_equal(r.at, r.end);
	byte_buffer__clear(&b);
	assert_int_equal(b.size, 0);
	byte_buffer__destroy(&b);
}

/* Varints of all lengths, minimal and overlong, complete and truncated. */
TEST_CASE(many_at_once_are_those_one_by_one)
{
	struct rng rng = rng_new();

	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[64];
		size_t size = rng_below(&rng, sizeof(bytes) + 1);
		uint32_t n = rng_below(&rng, 40), high = rng_below(&rng, 5);
		struct byte_reader one = {.at = bytes, .end = bytes + size}, many = one;
		uint64_t values[40];

		for (size_t i = 0; i < size; i++)
			bytes[i] = rng_below(&rng, 128) | (rng_below(&rng, 4) < high ? 128 : 0);
		byte_reader__varints(&many, values, n);
		for (uint32_t i = 0; i < n; i++)
			assert_true(byte_reader__varint(&one) == values[i]);
		assert_true(one.bad == many.bad);
		assert_ptr_equal(one.at, many.at);
	}
}

/* ---- Chunk sink ------------------------------------------------------------------------------ */

static struct chunk_sink s;

static int reset(void **state)
{
	chunk_sink__destroy(&s);
	memset(&disk, 0, sizeof(disk));
	directory_files(true);
	return 0;
}
#define SINK_CASE(name) TEST_CASE_WITH(name, NULL, reset)

/* A file with one chunk of an unknown type. */
static void begin(void)
{
	uint8_t bytes[100] = {1};
	const struct byte_buffer payload = {.data = bytes, .size = sizeof(bytes)};

	assert_int_equal(chunk_sink__open(&s, directory_path("x.qpt")), 0);
	assert_int_equal(chunk_sink__write(&s, 200, &payload, NULL), 0);
}

static int finish(void)
{
	uint8_t end[QPT_END_SIZE] = {0};

	return chunk_sink__finish(&s, end);
}

static uint32_t state_of_file(void)
{
	uint8_t bytes[4];
	int fd = open(directory_path("x.qpt"), O_RDONLY);

	assert_int_equal(pread(fd, bytes, sizeof(bytes), QPT_HEADER_STATE), sizeof(bytes));
	close(fd);
	return bytes_load_u32(bytes);
}

TEST_GROUP(directory_make, directory_remove)

/* Readers refuse what expands to too much, so it is stored as it is from there on. */
SINK_CASE(a_payload_is_compressed_within_the_expansion_limit)
{
	uint64_t compressed, whole, bytes;

	begin();
	compressed = s.file.bytes - QPT_HEADER_SIZE;
	assert_int_equal(s.expanded, 100);
	chunk_sink__destroy(&s);
	directory_files(true);
	begin();
	bytes = s.file.bytes;
	s.expanded = QPT_EXPANSION_WRITER + QPT_EXPANSION_FACTOR * (bytes + 100);
	must(chunk_sink__write(
		&s, 200, &(struct byte_buffer){.data = (uint8_t[100]){1}, .size = 100}, NULL));
	whole = s.file.bytes - bytes;
	assert_int_equal(whole, QPT_CHUNK_HEADER_SIZE + 100);
	assert_true(compressed < whole);
}

/* The same of lists of results, of which each item takes a byte at least. */
SINK_CASE(results_are_compressed_within_their_limit)
{
	uint64_t bytes[2];

	for (int i = 0; i < 2; i++) {
		directory_files(true);
		begin();
		s.results = i ? QPT_RESULTS_FREE + s.file.bytes : 0;
		bytes[i] = s.file.bytes;
		must(chunk_sink__write(
			&s, QPT_RESULTS,
			&(struct byte_buffer){.data = (uint8_t[100]){1}, .size = 100}, NULL));
		bytes[i] = s.file.bytes - bytes[i];
		chunk_sink__destroy(&s);
	}
	assert_true(bytes[0] < bytes[1]);
	assert_int_equal(bytes[1], QPT_CHUNK_HEADER_SIZE + 100);
}

SINK_CASE(short_writes_make_the_same_file)
{
	uint64_t bytes;

	begin();
	assert_int_equal(finish(), 0);
	bytes = s.file.bytes;
	chunk_sink__destroy(&s);
	directory_files(true);
	disk.most = 7;
	begin();
	assert_int_equal(finish(), 0);
	assert_int_equal(s.file.bytes, bytes);
	assert_true(state_of_file() == QPT_STATE_FINISHED);
}

SINK_CASE(an_unsynced_file_stays_marked_unfinished)
{
	begin();
	disk.sync_err = EIO;
	assert_int_equal(finish(), -EIO);
	assert_int_equal(finish(), -EIO);
	assert_true(state_of_file() == QPT_STATE_UNFINISHED);
}

SINK_CASE(a_mark_that_cannot_be_cleared_stays)
{
	begin();
	disk.overwrite_err = ENOSPC;
	assert_int_equal(finish(), -ENOSPC);
	assert_true(state_of_file() == QPT_STATE_UNFINISHED);
}

SINK_CASE(nothing_follows_the_end)
{
	const struct byte_buffer nothing = {0};
	begin();
	assert_int_equal(finish(), 0);
	assert_int_equal(chunk_sink__write(&s, 200, &nothing, NULL), -EBADF);
	assert_int_equal(finish(), -EBADF);
}

SINK_CASE(a_file_that_is_there_is_left_alone)
{
	begin();
	chunk_sink__destroy(&s);
	assert_int_equal(chunk_sink__open(&s, directory_path("x.qpt")), -EEXIST);
	chunk_sink__destroy(&s);
	assert_int_equal(directory_files(false), 1);
}

/* ---- Chunk stream ---------------------------------------------------------------------------- */

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

TEST_GROUP(NULL, NULL)

TEST_CASE(chunks_come_unpacked)
{
	struct chunk_stream s;
	_file_ struct file f = make();

	must(open_cut(&f, f.bytes.size, &s, &why), chunk_stream__next(&s));
	assert_struct(s, stopped, false, header.type, 99);
	assert_memory_equal(s.payload.at, "opaque", 6);
	chunk_stream__taken(&s);
	assert_int_equal(chunk_stream__next(&s), 0);
	assert_int_equal(s.header.type, QPT_LOSSES);
	assert_int_equal(s.payload.end - s.payload.at, 100);
	assert_int_equal(s.payload.at[99], 'z');
	chunk_stream__end(&s);
	assert_struct(s, stopped, true, problem, "");
	chunk_stream__destroy(&s);
}

TEST_CASE(every_cut_stops_at_the_last_whole_chunk)
{
	struct chunk_stream s;
	_file_ struct file f = make();

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

TEST_CASE(the_first_problem_stays)
{
	struct chunk_stream s;
	_file_ struct file f = make();

	must(open_cut(&f, f.bytes.size, &s, &why), chunk_stream__next(&s));
	chunk_stream__damaged(&s, "first");
	chunk_stream__damaged(&s, "second");
	chunk_stream__end(&s);
	assert_int_equal(chunk_stream__next(&s), 0);
	assert_string_equal(s.problem, "damaged at byte 32: first");
	chunk_stream__destroy(&s);
}

TEST_CASE(a_short_header_is_refused)
{
	struct chunk_stream s;
	_file_ struct file f = make();

	for (size_t size = 0; size < QPT_HEADER_SIZE; size++) {
		assert_int_equal(open_cut(&f, size, &s, &why), -EBADMSG);
		chunk_stream__destroy(&s);
	}
}

TEST_MAIN(NULL, NULL)
