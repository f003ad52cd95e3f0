// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/format.h"

#include <locale.h>

#include "test.h"

struct number {
	uint64_t value;
	const char *text;
};

static void check(char *(*format)(char *, uint64_t), const struct number *numbers, size_t n)
{
	char buf[FORMAT_MAX];

	for (size_t i = 0; i < n; i++)
		assert_string_equal(format(buf, numbers[i].value), numbers[i].text);
}

TEST_CASE(durations_have_three_digits)
{
	static const struct number numbers[] = {
		{0, "0 ns"},
		{7, "7 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{1234, "1.23 us"},
		{9994, "9.99 us"},
		{9995, "10.0 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{1234567, "1.23 ms"},
		{12345678, "12.3 ms"},
		{123456789, "123 ms"},
		{1500000000, "1.50 s"},
		{75300000000, "75.3 s"},
		{1234000000000, "1234 s"},
		{UINT64_MAX, "18446744074 s"},
	};

	check(format_duration, numbers, N_OF(numbers));
}

TEST_CASE(rounding_moves_to_the_next_unit)
{
	static const struct number numbers[] = {
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{999999, "1.00 ms"},
		{999500000, "1.00 s"},
	};

	check(format_duration, numbers, N_OF(numbers));
}

TEST_CASE(counts_are_grouped)
{
	static const struct number numbers[] = {
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{204607, "204,607"},
		{1234567, "1,234,567"},
		{UINT64_MAX, "18,446,744,073,709,551,615"},
	};

	check(format_count, numbers, N_OF(numbers));
}

TEST_CASE(short_counts_have_three_digits)
{
	static const struct number numbers[] = {
		{0, "0"},	  {999, "999"},	     {1000, "1.00k"},	 {12345, "12.3k"},
		{999499, "999k"}, {999500, "1.00M"}, {1234567, "1.23M"}, {5000000000, "5.00G"},
	};

	check(format_short, numbers, N_OF(numbers));
}

TEST_CASE(bytes_use_binary_units)
{
	static const struct number numbers[] = {
		{0, "0 B"},
		{1023, "1.00 KiB"},
		{512, "512 B"},
		{1536, "1.50 KiB"},
		{16 << 20, "16.0 MiB"},
		{1023 << 10, "1.00 MiB"},
		{900 << 10, "900 KiB"},
	};

	check(format_bytes, numbers, N_OF(numbers));
}

TEST_CASE(percent_of_nothing_is_zero)
{
	char buf[FORMAT_MAX];

	assert_string_equal(format_percent(buf, 0, 0), "0.0");
	assert_string_equal(format_percent(buf, 1, 3), "33.3");
	assert_string_equal(format_percent(buf, 2, 3), "66.7");
	assert_string_equal(format_percent(buf, UINT64_MAX, UINT64_MAX), "100.0");
}

TEST_CASE(rates_do_not_overflow)
{
	assert_int_equal(format_rate(5, 0), 0);
	assert_int_equal(format_rate(500, 500000000), 1000);
	assert_int_equal(format_rate(1ull << 40, 1000000000), 1ull << 40);
}

static void assert_clean(const char *text, const char *expected)
{
	char *clean = format_clean(text);

	assert_string_equal(clean, expected);
	free(clean);
}

TEST_CASE(clean_text_cannot_move_a_cursor)
{
	assert_clean("typeck", "typeck");
	assert_clean("a\033[2Jb\nc\x7f", "a?[2Jb?c?");
	assert_clean("caf\xc3\xa9", "caf\xc3\xa9");
	assert_clean("c1 \xc2\x9b", "c1 ?");
	assert_clean("\xe2\x80\xae"
		     "abc",
		     "?abc");
}

TEST_CASE(broken_utf8_is_replaced_byte_by_byte)
{
	assert_clean("\xff\xfe", "??");
	assert_clean("\xc3", "?");
	assert_clean("\xe2\x82", "??");
	assert_clean("\xc0\xaf", "??");	     /* overlong */
	assert_clean("\xe0\x80\xaf", "???"); /* overlong */
	assert_clean("\xed\xa0\x80", "???"); /* surrogate */
	assert_clean("\xf4\x90\x80\x80", "????");
}

TEST_CASE(what_is_cut_off_has_a_mark)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *want;
	} cases[] = {
		{"eval_to_allocation_raw", 14, "eval_to_allo.."},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 3, "a.."},
		{"abcdef", 2, "ab"},
		{"abcdef", 0, ""},
		{"", 5, ""},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[32];

		strcpy(text, cases[i].text);
		format_cut(text, cases[i].columns);
		assert_string_equal(text, cases[i].want);
	}
}

TEST_CASE(width_counts_columns_not_bytes)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(format_width("abc"), 3);
	assert_int_equal(format_width("caf\xc3\xa9"), 4);
	assert_int_equal(format_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	assert_int_equal(format_fit("\xe6\xbc\xa2\xe5\xad\x97", 3), 3);
	assert_int_equal(format_fit("abcdef", 4), 4);
	assert_int_equal(format_fit("ab", 4), 2);
}

TEST_CASE(bytes_are_two_digits_each)
{
	static const uint8_t bytes[] = {0x00, 0x0f, 0xa0, 0xff};
	char text[2 * sizeof(bytes) + 1] = "?";

	format_hex(text, bytes, 0);
	assert_string_equal(text, "");
	format_hex(text, bytes, sizeof(bytes));
	assert_string_equal(text, "000fa0ff");
}

TEST_MAIN(NULL, NULL)
