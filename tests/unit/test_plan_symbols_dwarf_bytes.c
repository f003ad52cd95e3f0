// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/dwarf_bytes.h"

#include "test.h"

#define READER(bytes)                                   \
	((struct dwarf_bytes){(const uint8_t *)(bytes), \
			      (const uint8_t *)(bytes) + sizeof(bytes) - 1, false})

static void assert_uleb(const char *bytes, size_t n, uint64_t value)
{
	struct dwarf_bytes b = {(const uint8_t *)bytes, (const uint8_t *)bytes + n, false};

	assert_int_equal(dwarf_bytes__uleb(&b), value);
	assert_false(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

static void assert_sleb(const char *bytes, size_t n, int64_t value)
{
	struct dwarf_bytes b = {(const uint8_t *)bytes, (const uint8_t *)bytes + n, false};

	assert_int_equal(dwarf_bytes__sleb(&b), value);
	assert_false(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

#define ULEB(bytes, value) assert_uleb(bytes, sizeof(bytes) - 1, value)
#define SLEB(bytes, value) assert_sleb(bytes, sizeof(bytes) - 1, value)

/* The first ones are the examples of the standard. */
static void numbers_of_any_length_are_read(void **state)
{
	ULEB("\x02", 2);
	ULEB("\x7f", 127);
	ULEB("\x80\x01", 128);
	ULEB("\xb9\x64", 12857);
	ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", UINT64_MAX);
	ULEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 1);
	SLEB("\x02", 2);
	SLEB("\x7e", -2);
	SLEB("\xff\x00", 127);
	SLEB("\x81\x7f", -127);
	SLEB("\x80\x7f", -128);
	SLEB("\xff\x7e", -129);
	SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", INT64_MIN);
	SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", INT64_MAX);
}

static void numbers_of_fixed_size_are_little_endian(void **state)
{
	struct dwarf_bytes b = READER("\x01\x02\x03\xff\xff\xfe\x80\0\0\0\0\0\0\x80");

	assert_int_equal(dwarf_bytes__u8(&b), 1);
	assert_int_equal(dwarf_bytes__number(&b, 2), 0x302);
	assert_int_equal(dwarf_bytes__number(&b, 2), 0xffff);
	assert_int_equal(dwarf_bytes__signed(&b, 1), -2);
	assert_int_equal(dwarf_bytes__signed(&b, 8), INT64_MIN + 0x80);
	assert_false(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

/* A missing byte is 0, and so is all that follows it. */
static void a_missing_byte_is_remembered(void **state)
{
	struct dwarf_bytes b = READER("\x80");

	assert_int_equal(dwarf_bytes__uleb(&b), 0);
	assert_true(b.bad);
	b = READER("\x01\x02\x03");
	assert_int_equal(dwarf_bytes__number(&b, 4), 0);
	assert_true(b.bad);
	assert_int_equal(dwarf_bytes__u8(&b), 0);
	b = READER("\x01\x02");
	assert_null(dwarf_bytes__take(&b, UINT64_MAX));
	assert_true(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

/* A number that never ends takes no more than DWARF_LEB_MAX bytes. */
static void a_number_that_is_too_long_is_refused(void **state)
{
	char bytes[64];
	struct dwarf_bytes b = {(const uint8_t *)bytes, (const uint8_t *)bytes + 64, false};

	memset(bytes, 0x80, sizeof(bytes));
	assert_int_equal(dwarf_bytes__uleb(&b), 0);
	assert_true(b.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_any_length_are_read),
		cmocka_unit_test(numbers_of_fixed_size_are_little_endian),
		cmocka_unit_test(a_missing_byte_is_remembered),
		cmocka_unit_test(a_number_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
