// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/last_field.h"

#include "test.h"
#define LIBRARY "last_field.so"
#include "../fixtures/image.h"

static bool find(const char *function, uint64_t *offset)
{
	return last_field__find(decoder, symbol(img, function)->addr, offset);
}

TEST_CASE(a_function_passes_the_address_of_one_field)
{
	uint64_t offset;

	assert_true(find("pair", &offset));
	assert_int_equal(offset, 0x18);
	assert_false(find("pair_by_reference", &offset));
	assert_false(find("two_fields", &offset));
	assert_false(find("branches", &offset));
	assert_false(last_field__find(decoder, 0, &offset));
}

TEST_CASE(all_types_have_the_field_at_one_place)
{
	uint64_t offset;

	assert_int_equal(last_field__of_generic(img, decoder, "Pair", &offset), 1);
	assert_int_equal(offset, 0x18);
}

TEST_CASE(a_field_that_moves_is_at_no_known_place)
{
	uint64_t offset;

	assert_int_equal(last_field__of_generic(img, decoder, "Other", &offset), 0);
}

TEST_CASE(one_function_does_not_show_it_for_all_types)
{
	uint64_t offset;

	assert_int_equal(last_field__of_generic(img, decoder, "Single", &offset), 0);
	assert_int_equal(last_field__of_generic(img, decoder, "Missing", &offset), 0);
}

TEST_MAIN(image_setup, image_teardown)
