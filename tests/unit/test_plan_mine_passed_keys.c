// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/memory_keys.h"

#include "test.h"
#define LIBRARY "passed_keys.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"

/* The assembled tests/fixtures/passed_keys.s. */
static struct passed_keys keys;

static struct code_region function(const char *name)
{
	const struct elf_symbol *s = symbol(img, name);

	return (struct code_region){s->addr, s->size};
}

static bool learns(const char *name)
{
	struct code_region f = function(name);

	keys = (struct passed_keys){.img = img, .decoder = decoder};
	assert_int_equal(passed_keys__learn(&keys, &f), 0);
	return passed_keys__known(&keys);
}

static bool is_found(const char *name, struct wire_memory_key *out)
{
	struct code_region f = function(name);
	int found = passed_keys__find(&keys, &f, out);

	assert_in_range(found, 0, 1);
	return found;
}

static void assert_at(const char *name, uint32_t offset, uint8_t word)
{
	struct wire_memory_key key;

	assert_true(is_found(name, &key));
	assert_pairs(key.offset, offset, key.narrow, 0, key.other, word);
	for (int i = 0; i < WIRE_VARIANTS; i++)
		assert_int_equal(key.words[i], word);
}

TEST_CASE(the_registers_are_those_of_a_definition)
{
	assert_true(learns("def"));
	assert_int_equal(keys.index, WIRE_REG_CX);
	assert_int_equal(keys.crate, WIRE_REG_R8);
}

TEST_CASE(other_functions_show_none)
{
	static const char *const names[] = {"second", "local", "apart",	    "odd",
					    "lookup", "other", "elsewhere", "jumps_twice"};

	for (size_t i = 0; i < N_OF(names); i++)
		if (learns(names[i]))
			fail_msg("%s", names[i]);
}

TEST_CASE(a_part_of_a_key_is_passed_on)
{
	struct wire_memory_key key;

	assert_true(learns("def"));
	assert_at("def", 0, 0);
	assert_at("second", 8, 0);
	assert_at("local", 0, WIRE_LOCAL_WORD);
	assert_at("second_local", 4, WIRE_LOCAL_WORD);
	assert_false(is_found("apart", &key));
	assert_false(is_found("odd", &key));
	assert_false(is_found("elsewhere", &key));
	assert_false(is_found("far", &key));
	assert_false(is_found("jumps_twice", &key));
}

TEST_CASE(the_variant_is_in_one_byte)
{
	static const uint8_t words[WIRE_VARIANTS] = {1, 4, 1, 4,
						     [4 ... WIRE_VARIANTS - 1] = WIRE_NO_WORD};
	struct wire_memory_key key;

	assert_true(learns("def"));
	assert_true(is_found("variants", &key));
	assert_int_equal(key.narrow, 1);
	assert_pairs(key.first, 0, key.offset, 0, key.other, WIRE_NO_WORD);
	assert_memory_equal(key.words, words, sizeof(words));
}

TEST_MAIN(image_setup, image_teardown)
