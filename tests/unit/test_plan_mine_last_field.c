// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/last_field.h"

#include "test.h"
#define LIBRARY "last_field.so"
#include "../fixtures/image.h"

static bool find(const char *function, uint64_t *offset)
{
	return last_field__find(decoder, symbol(img, function)->addr, offset);
}

static void a_function_passes_the_address_of_one_field(void **state)
{
	uint64_t offset;

	assert_true(find("pair", &offset));
	assert_int_equal(offset, 0x18);
	assert_false(find("pair_by_reference", &offset));
	assert_false(find("two_fields", &offset));
	assert_false(find("branches", &offset));
	assert_false(last_field__find(decoder, 0, &offset));
}

static void all_types_have_the_field_at_one_place(void **state)
{
	uint64_t offset;

	assert_int_equal(last_field__of_generic(img, decoder, "Pair", &offset), 1);
	assert_int_equal(offset, 0x18);
}

static void a_field_that_moves_is_at_no_known_place(void **state)
{
	uint64_t offset;

	assert_int_equal(last_field__of_generic(img, decoder, "Other", &offset), 0);
}

static void one_function_does_not_show_it_for_all_types(void **state)
{
	uint64_t offset;

	assert_int_equal(last_field__of_generic(img, decoder, "Single", &offset), 0);
	assert_int_equal(last_field__of_generic(img, decoder, "Missing", &offset), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_passes_the_address_of_one_field),
		cmocka_unit_test(all_types_have_the_field_at_one_place),
		cmocka_unit_test(a_field_that_moves_is_at_no_known_place),
		cmocka_unit_test(one_function_does_not_show_it_for_all_types),
	};

	return cmocka_run_group_tests(tests, image_setup, image_teardown);
}
