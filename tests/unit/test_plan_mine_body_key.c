// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/body_key.h"

#include "test.h"
#define LIBRARY "keys.so"
#include "../fixtures/image.h"

static const struct mine_key number = {WIRE_REG_R8, WIRE_REG_NONE, false};
static const struct mine_key pair = {WIRE_REG_R8, WIRE_REG_R9, false};
static const struct mine_key address = {WIRE_REG_R8, WIRE_REG_NONE, true};

static struct mined_key mine(const char *name, const struct mine_key *key)
{
	const struct elf_symbol *sym = symbol(img, name);
	struct code_region region = {sym->addr, sym->size};
	struct code code = {0};
	struct mined_key out[2];
	uint64_t sites[2];
	char mark[64];
	struct walk w;

	snprintf(mark, sizeof(mark), "%s.site", name);
	sites[0] = symbol(img, mark)->addr;
	sites[1] = 1; /* no instruction */
	assert_int_equal(code_decoder__decode(decoder, &region, 1, &code), 0);
	assert_int_equal(walk__init(&w, img, &code, sym->addr), 0);
	assert_int_equal(mine_body_key(&w, sym->addr, key, sites, 2, out), 0);
	walk__fini(&w);
	code__free(&code);
	assert_int_equal(out[1].reg, WIRE_REG_NONE);
	assert_int_equal(out[1].slot, MINED_NO_KEY);
	return out[0];
}

static void assert_key(const char *name, const struct mine_key *key, uint8_t reg, int32_t slot)
{
	struct mined_key at = mine(name, key);

	if (at.reg != reg || at.slot != slot)
		fail_msg("%s: register %d, slot %d", name, at.reg, at.slot);
}

static void assert_unknown(const char *name, const struct mine_key *key)
{
	assert_key(name, key, WIRE_REG_NONE, MINED_NO_KEY);
}

TEST_CASE(a_key_is_where_it_is_sure)
{
	/* A register is kept across calls. */
	assert_key("in_register", &number, WIRE_REG_BX, MINED_NO_KEY);
	assert_unknown("in_register_not", &number);
	/* A spilled register is safe from callees. */
	assert_key("spilled", &number, WIRE_REG_NONE, 0x18);
	assert_key("spilled", &address, WIRE_REG_NONE, 0x18);
	assert_unknown("spilled_over", &number);
	assert_unknown("spilled_wide", &number);
	assert_unknown("spilled_maybe", &number);
	/* A variable is safe from pointers below. */
	assert_key("variable", &pair, WIRE_REG_NONE, 0x78);
	assert_key("variable", &number, WIRE_REG_NONE, 0x78);
	assert_unknown("variable_not", &pair);
	assert_unknown("passed", &pair);
	/* A store through a register overwrites. */
	assert_unknown("through_register", &pair);
	/* A def id is read at one place. */
	assert_unknown("in_register", &pair);
	assert_unknown("apart", &pair);
	assert_unknown("backwards", &pair);
	assert_key("apart", &number, WIRE_REG_R8, MINED_NO_KEY);
	/* Slots are unknown from an aligned sp. */
	assert_unknown("aligned", &number);
	/* Code that is not reached knows nothing. */
	assert_unknown("unreached", &number);
	/* A table ends where the next one begins. */
	assert_key("switches", &number, WIRE_REG_BX, MINED_NO_KEY);
	/* An address has 64 bits. */
	assert_key("address", &address, WIRE_REG_BX, MINED_NO_KEY);
	assert_unknown("address_not", &address);
	assert_unknown("variable", &address);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static uint16_t contexts(const char *name)
{
	return mine_arguments(decoder, symbol(img, name)->addr).contexts;
}

TEST_CASE(contexts_are_dereferenced_far_from_their_start)
{
	assert_int_equal(contexts("context_direct"), 1 << WIRE_REG_DI);
	assert_int_equal(contexts("context_spilled"), 1 << WIRE_REG_SI);
	assert_int_equal(contexts("context_jump"), 1 << WIRE_REG_DI);
	assert_int_equal(contexts("context_branch"), 1 << WIRE_REG_SI);
	/* A register that was overwritten proves nothing. */
	assert_int_equal(contexts("context_overwritten"), 0);
	assert_int_equal(contexts("context_captured"), 0);
	assert_int_equal(contexts("callee"), 0);
	assert_int_equal(mine_arguments(decoder, UINT64_MAX - 4).contexts, 0);
	/* All that may be contexts are found. */
	assert_int_equal(contexts("context_two"), 1 << WIRE_REG_DI | 1 << WIRE_REG_SI);
}

TEST_CASE(pointers_are_found)
{
	uint64_t addr = symbol(img, "context_overwritten")->addr;

	assert_int_equal(mine_arguments(decoder, addr).pointers, 1 << WIRE_REG_DI);
}

TEST_CASE(a_closure_has_the_address_of_the_context)
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

TEST_CASE(a_register_is_kept_up_to_a_site)
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

TEST_MAIN(image_setup, image_teardown)
