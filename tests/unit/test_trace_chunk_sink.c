// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk_sink.h"

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/disk.h"
#include "qprof/trace_format.h"

static int reset(void **state)
{
	memset(&disk, 0, sizeof(disk));
	directory_files(true);
	return 0;
}

/* A file with one chunk of an unknown type. */
static void begin(struct chunk_sink *s)
{
	uint8_t bytes[100] = {1};
	const struct byte_buffer payload = {.data = bytes, .size = sizeof(bytes)};

	assert_int_equal(chunk_sink__open(s, directory_path("x.qpt")), 0);
	assert_int_equal(chunk_sink__write(s, 200, &payload, NULL), 0);
}

static int finish(struct chunk_sink *s)
{
	uint8_t end[QPT_END_SIZE] = {0};

	return chunk_sink__finish(s, end);
}

static uint32_t state_of_file(void)
{
	uint8_t bytes[4];
	int fd = open(directory_path("x.qpt"), O_RDONLY);

	assert_int_equal(pread(fd, bytes, sizeof(bytes), QPT_HEADER_STATE), sizeof(bytes));
	close(fd);
	return bytes_load_u32(bytes);
}

/* Readers refuse what expands to too much, so it is stored as it is from there on. */
static void a_payload_is_compressed_within_the_expansion_limit(void **state)
{
	struct chunk_sink s;
	uint64_t compressed, whole, bytes;

	begin(&s);
	compressed = s.file.bytes - QPT_HEADER_SIZE;
	assert_int_equal(s.expanded, 100);
	chunk_sink__destroy(&s);
	directory_files(true);
	begin(&s);
	bytes = s.file.bytes;
	s.expanded = QPT_EXPANSION_WRITER + QPT_EXPANSION_FACTOR * (bytes + 100);
	assert_int_equal(
		chunk_sink__write(&s, 200,
				  &(struct byte_buffer){.data = (uint8_t[100]){1}, .size = 100},
				  NULL),
		0);
	whole = s.file.bytes - bytes;
	assert_int_equal(whole, QPT_CHUNK_HEADER_SIZE + 100);
	assert_true(compressed < whole);
	chunk_sink__destroy(&s);
}

/* The same of lists of results, of which each item takes a byte at least. */
static void results_are_compressed_within_their_limit(void **state)
{
	uint64_t bytes[2];

	for (int i = 0; i < 2; i++) {
		struct chunk_sink s;

		directory_files(true);
		begin(&s);
		s.results = i ? QPT_RESULTS_FREE + s.file.bytes : 0;
		bytes[i] = s.file.bytes;
		assert_int_equal(chunk_sink__write(&s, QPT_RESULTS,
						   &(struct byte_buffer){.data = (uint8_t[100]){1},
									 .size = 100},
						   NULL),
				 0);
		bytes[i] = s.file.bytes - bytes[i];
		chunk_sink__destroy(&s);
	}
	assert_true(bytes[0] < bytes[1]);
	assert_int_equal(bytes[1], QPT_CHUNK_HEADER_SIZE + 100);
}

static void short_writes_make_the_same_file(void **state)
{
	struct chunk_sink s;
	uint64_t bytes;

	begin(&s);
	assert_int_equal(finish(&s), 0);
	bytes = s.file.bytes;
	chunk_sink__destroy(&s);
	directory_files(true);
	disk.most = 7;
	begin(&s);
	assert_int_equal(finish(&s), 0);
	assert_int_equal(s.file.bytes, bytes);
	assert_true(state_of_file() == QPT_STATE_FINISHED);
	chunk_sink__destroy(&s);
}

static void an_unsynced_file_stays_marked_unfinished(void **state)
{
	/* The first sync is of the data, the second of the mark. */
	for (int syncs = 0; syncs < 2; syncs++) {
		struct chunk_sink s;

		begin(&s);
		disk.syncs = syncs;
		disk.sync_err = EIO;
		assert_int_equal(finish(&s), -EIO);
		assert_int_equal(finish(&s), -EIO);
		assert_true(state_of_file() == QPT_STATE_UNFINISHED);
		chunk_sink__destroy(&s);
		reset(state);
	}
}

static void a_mark_that_cannot_be_cleared_stays(void **state)
{
	struct chunk_sink s;

	begin(&s);
	disk.overwrite_err = ENOSPC;
	assert_int_equal(finish(&s), -ENOSPC);
	assert_true(state_of_file() == QPT_STATE_UNFINISHED);
	chunk_sink__destroy(&s);
}

static void nothing_follows_the_end(void **state)
{
	const struct byte_buffer nothing = {0};
	struct chunk_sink s;

	begin(&s);
	assert_int_equal(finish(&s), 0);
	assert_int_equal(chunk_sink__write(&s, 200, &nothing, NULL), -EBADF);
	assert_int_equal(finish(&s), -EBADF);
	chunk_sink__destroy(&s);
}

static void a_file_that_is_there_is_left_alone(void **state)
{
	struct chunk_sink s;

	begin(&s);
	chunk_sink__destroy(&s);
	assert_int_equal(chunk_sink__open(&s, directory_path("x.qpt")), -EEXIST);
	chunk_sink__destroy(&s);
	assert_int_equal(directory_files(false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_payload_is_compressed_within_the_expansion_limit,
					  reset),
		cmocka_unit_test_teardown(results_are_compressed_within_their_limit, reset),
		cmocka_unit_test_teardown(short_writes_make_the_same_file, reset),
		cmocka_unit_test_teardown(an_unsynced_file_stays_marked_unfinished, reset),
		cmocka_unit_test_teardown(a_mark_that_cannot_be_cleared_stays, reset),
		cmocka_unit_test_teardown(nothing_follows_the_end, reset),
		cmocka_unit_test_teardown(a_file_that_is_there_is_left_alone, reset),
	};

	return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
