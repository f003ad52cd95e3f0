// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/arguments.h"

#include "test.h"
#define LIBRARY "keys.so"
#include "../fixtures/image.h"

static uint16_t contexts(const char *name)
{
	return mine_arguments(decoder, symbol(img, name)->addr).contexts;
}

static void the_context_is_dereferenced_far_from_its_start(void **state)
{
	assert_int_equal(contexts("context_direct"), 1 << WIRE_REG_DI);
	assert_int_equal(contexts("context_spilled"), 1 << WIRE_REG_SI);
	assert_int_equal(contexts("context_jump"), 1 << WIRE_REG_DI);
	assert_int_equal(contexts("context_branch"), 1 << WIRE_REG_SI);
}

static void a_register_that_was_overwritten_proves_nothing(void **state)
{
	assert_int_equal(contexts("context_overwritten"), 0);
	assert_int_equal(contexts("context_captured"), 0);
	assert_int_equal(contexts("callee"), 0);
	assert_int_equal(mine_arguments(decoder, UINT64_MAX - 4).contexts, 0);
}

static void all_that_may_be_contexts_are_found(void **state)
{
	assert_int_equal(contexts("context_two"), 1 << WIRE_REG_DI | 1 << WIRE_REG_SI);
}

static void pointers_are_found(void **state)
{
	uint64_t addr = symbol(img, "context_overwritten")->addr;

	assert_int_equal(mine_arguments(decoder, addr).pointers, 1 << WIRE_REG_DI);
}

static void a_closure_has_the_address_of_the_context(void **state)
{
	struct mined_arguments args =
		mine_arguments(decoder, symbol(img, "context_captured")->addr);

	assert_int_equal(args.holders, 1 << WIRE_REG_SI);
	assert_int_equal(args.pointers, 1 << WIRE_REG_SI | 1 << WIRE_REG_DX);
	args = mine_arguments(decoder, symbol(img, "context_uncaptured")->addr);
	assert_int_equal(args.holders, 0);
	args = mine_arguments(decoder, symbol(img, "context_direct")->addr);
	assert_int_equal(args.holders, 0);
}

static void a_register_is_kept_up_to_a_site(void **state)
{
	uint64_t entry = symbol(img, "context_direct")->addr, site = entry + 6;

	assert_true(mine_arguments_kept(decoder, entry, entry, UINT16_MAX));
	assert_true(mine_arguments_kept(decoder, entry, site, 1 << WIRE_REG_SI));
	assert_false(
		mine_arguments_kept(decoder, entry, site, 1 << WIRE_REG_SI | 1 << WIRE_REG_DX));
	assert_false(mine_arguments_kept(decoder, entry, site, 1 << WIRE_REG_BX));
	assert_false(mine_arguments_kept(decoder, entry, site - 1, 0));
	assert_false(mine_arguments_kept(decoder, site, entry, 0));
	/* Behind a call. */
	assert_false(mine_arguments_kept(decoder, entry, entry + 12, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_context_is_dereferenced_far_from_its_start),
		cmocka_unit_test(a_register_that_was_overwritten_proves_nothing),
		cmocka_unit_test(all_that_may_be_contexts_are_found),
		cmocka_unit_test(pointers_are_found),
		cmocka_unit_test(a_closure_has_the_address_of_the_context),
		cmocka_unit_test(a_register_is_kept_up_to_a_site),
	};

	return cmocka_run_group_tests(tests, image_setup, image_teardown);
}
