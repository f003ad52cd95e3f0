// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk.h"

#include "test.h"
#include "trace/bytes.h"
#include "../fixtures/random.h"

static void sign(uint8_t *header)
{
	bytes_store_u32(header + QPT_HEADER_CRC, crc32c(0, header, QPT_HEADER_CRC));
}

static void a_new_header_is_unfinished(void **state)
{
	uint8_t bytes[QPT_HEADER_SIZE];
	struct file_header h;
	const char *why = NULL;

	file_header__store(bytes);
	assert_int_equal(file_header__load(bytes, &h, &why), 0);
	assert_int_equal(h.size, QPT_HEADER_SIZE);
	assert_false(h.finished);
	bytes_store_u32(bytes + QPT_HEADER_STATE, QPT_STATE_FINISHED);
	assert_int_equal(file_header__load(bytes, &h, &why), 0);
	assert_true(h.finished);
	assert_null(why);
	/* Only one value marks a file as finished. */
	bytes_store_u32(bytes + QPT_HEADER_STATE, 1);
	assert_int_equal(file_header__load(bytes, &h, &why), 0);
	assert_false(h.finished);
}

static void every_byte_of_a_header_counts(void **state)
{
	uint8_t bytes[QPT_HEADER_SIZE];
	struct file_header h;
	const char *why;

	file_header__store(bytes);
	for (int i = 0; i < QPT_HEADER_STATE; i++) {
		bytes[i] ^= 0x40;
		assert_int_equal(file_header__load(bytes, &h, &why), -EBADMSG);
		bytes[i] ^= 0x40;
	}
}

static void an_unsupported_version_is_distinguished_from_damage(void **state)
{
	uint8_t bytes[QPT_HEADER_SIZE];
	struct file_header h;
	const char *why;

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

static void a_chunk_header_guards_its_payload(void **state)
{
	struct chunk_header h = {.type = QPT_SPANS, .flags = QPT_CHUNK_ZSTD, .stored = 5, .raw = 9};
	uint8_t payload[5] = "abcde";
	uint8_t bytes[QPT_CHUNK_HEADER_SIZE];
	struct chunk_header back;

	chunk_header__store(bytes, &h, payload);
	chunk_header__load(bytes, &back);
	assert_int_equal(back.type, QPT_SPANS);
	assert_int_equal(back.flags, QPT_CHUNK_ZSTD);
	assert_int_equal(back.reserved, 0);
	assert_int_equal(back.stored, 5);
	assert_int_equal(back.raw, 9);
	assert_true(chunk_header__check(bytes, &back, payload));
	payload[4] ^= 1;
	assert_false(chunk_header__check(bytes, &back, payload));
	payload[4] ^= 1;
	bytes[QPT_CHUNK_TYPE] = QPT_END;
	assert_false(chunk_header__check(bytes, &back, payload));
}

/* ---- Crc32c ---------------------------------------------------------------------------------- */

/* RFC 3720, appendix B.4, and the check value of the CRC catalogues. */
static void it_is_castagnolis(void **state)
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

static void it_goes_on_at_any_place(void **state)
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

static void every_way_gives_the_same(void **state)
{
	struct rng rng = rng_new();
	uint8_t bytes[300];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = rng_u64(&rng);
	for (size_t i = 0; i <= sizeof(bytes); i++)
		assert_true(crc32c(i, bytes + i, sizeof(bytes) - i) ==
			    crc32c_by_table(i, bytes + i, sizeof(bytes) - i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_header_is_unfinished),
		cmocka_unit_test(every_byte_of_a_header_counts),
		cmocka_unit_test(an_unsupported_version_is_distinguished_from_damage),
		cmocka_unit_test(a_chunk_header_guards_its_payload),
		cmocka_unit_test(it_is_castagnolis),
		cmocka_unit_test(it_goes_on_at_any_place),
		cmocka_unit_test(every_way_gives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
