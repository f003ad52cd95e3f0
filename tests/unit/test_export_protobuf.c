// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <math.h>

#include "test.h"
#include "base/cleanup.h"
#include "export/protobuf.h"

static void fields_are_as_the_format_says(void **state)
{
	/* 1: 150; 2: "testing"; 3 {1: 150}, as in its description; 44: 1.0; 16: "" */
	static const uint8_t expected[] = {
		0x08, 0x96, 0x01, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n',  'g',  0x1a, 0x03, 0x08,
		0x96, 0x01, 0xe1, 0x02, 0,    0,   0,	0,   0,	  0,   0xf0, 0x3f, 0x82, 0x01, 0};
	__cleanup(byte_buffer__destroy) struct byte_buffer b = {}, inner = {};

	protobuf__varint(&b, 1, 150);
	protobuf__text(&b, 2, "testing");
	protobuf__varint(&inner, 1, 150);
	protobuf__message(&b, 3, &inner);
	protobuf__double(&b, 44, 1.0);
	protobuf__text(&b, 16, "");
	assert_false(b.failed);
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
}

static void texts_are_utf8(void **state)
{
	static const uint8_t expected[] = {0x0a, 7, 'a', 0xef, 0xbf, 0xbd, 0xc3, 0xa9, 'b'};
	struct byte_buffer b = {}, empty = {};

	protobuf__text(&b, 1, "a\377\303\251b");
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
	byte_buffer__clear(&b);
	protobuf__message(&b, 1, &empty);
	assert_int_equal(b.size, 2);
	byte_buffer__destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_as_the_format_says),
		cmocka_unit_test(texts_are_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
