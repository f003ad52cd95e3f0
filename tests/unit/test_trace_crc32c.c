// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/crc32c.h"

#include "test.h"
#include "../fixtures/random.h"

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
		cmocka_unit_test(it_is_castagnolis),
		cmocka_unit_test(it_goes_on_at_any_place),
		cmocka_unit_test(every_way_gives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
