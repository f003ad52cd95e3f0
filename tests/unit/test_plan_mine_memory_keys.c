// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/memory_keys.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"

/* The assembled tests/fixtures/memory_keys.s. */
struct keys {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct memory_keys *keys;
};

static struct keys whole, broken;

static int open_keys(struct keys *k, const char *name)
{
	return image_of(fixture(name), &k->img) ?: code_decoder__new(k->img, &k->decoder)
						 ?: memory_keys__new(k->img, k->decoder, &k->keys);
}

static void close_keys(struct keys *k)
{
	memory_keys__free(k->keys);
	code_decoder__free(k->decoder);
	elf_image__free(k->img);
}

static int setup(void **state)
{
	return fixture_dir_setup(state) ?: open_keys(&whole, "memory_keys.so")
						?: open_keys(&broken, "memory_keys_broken.so");
}

static int teardown(void **state)
{
	close_keys(&whole);
	close_keys(&broken);
	return fixture_dir_teardown(state);
}

static struct wire_memory_key found(const char *type)
{
	struct wire_memory_key key;

	assert_int_equal(memory_keys__find(whole.keys, type, &key), 1);
	return key;
}

static void assert_not_found(const char *type)
{
	struct wire_memory_key key;

	assert_int_equal(memory_keys__find(whole.keys, type, &key), 0);
}

/* As the kernel half reads it. */
static uint8_t word_of(const struct wire_memory_key *key, uint32_t first)
{
	uint32_t variant = first - key->first;

	return variant < WIRE_VARIANTS ? key->words[variant] : key->other;
}

static void assert_def_at(const char *type, uint32_t offset)
{
	struct wire_memory_key key = found(type);

	assert_int_equal(key.offset, offset);
	assert_int_equal(word_of(&key, 0), 0);
	assert_int_equal(word_of(&key, 7), 0);
	assert_int_equal(word_of(&key, 0xffffff01), 0);
}

static void assert_kind_at(const char *type, uint32_t offset)
{
	struct wire_memory_key key = found(type);

	assert_int_equal(key.offset, offset);
	assert_int_equal(key.first, 0xffffff01);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(word_of(&key, 0xffffff01 + i), 1);
	assert_int_equal(word_of(&key, 0xffffff05), 2);
	assert_int_equal(word_of(&key, 0xffffff06), 2);
	assert_int_equal(word_of(&key, 0), 0);
	assert_int_equal(word_of(&key, 0xffffff00), 0);
}

TEST_CASE(a_part_is_a_definition)
{
	assert_null(memory_keys__problem(whole.keys));
	assert_def_at("DefId", 0);
	assert_def_at("(DefId, DefId)", 8);
	assert_def_at("Pair", 0x18);
}

static void assert_local_at(const char *type, uint32_t offset)
{
	struct wire_memory_key key = found(type);

	assert_int_equal(key.offset, offset);
	assert_int_equal(word_of(&key, 0), WIRE_LOCAL_WORD);
	assert_int_equal(word_of(&key, 31), WIRE_LOCAL_WORD);
	assert_int_equal(word_of(&key, 0xffffff01), WIRE_LOCAL_WORD);
}

TEST_CASE(keys_are_found_by_what_is_asked_of_them)
{
	/* A part is a definition of the crate. */
	assert_local_at("LocalDefId", 0);
	assert_local_at("(LocalDefId, LocalDefId)", 4);
	assert_local_at("Indirect", 0xc);
	assert_not_found("Foreign");
	assert_not_found("Unasked");
	assert_not_found("Farther");
	/* The variant says where it is. */
	assert_kind_at("InstanceKind", 0);
	assert_kind_at("GlobalId", 0);
	/* Functions may be inlined. */
	assert_def_at("Copied", 4);
	assert_kind_at("KindCopied", 0);
	/* Other words are read, or other functions called. */
	assert_not_found("Larger");
	assert_not_found("Different");
	assert_not_found("KindMoved");
	assert_not_found("KindDifferent");
	/* The value of an input is asked. */
	assert_kind_at("PseudoCanonicalInput<GlobalId>", 0x18);
	assert_not_found("PseudoCanonicalInput<(DefId, DefId)>");
	assert_not_found("PseudoCanonicalInput<DefId>");
	assert_def_at("PseudoCanonicalInput<Pair>",
		      0x30); /* as in all whose function has no name */
	assert_not_found("PseudoCanonicalInput<>");
	assert_not_found("PseudoCanonicalInput<GlobalId");
	/* What is not shown is not found. */
	assert_not_found("Other");
	assert_not_found("Either");
	assert_not_found("Odd");
	assert_not_found("Endless");
	assert_not_found("Nowhere");
	assert_not_found("Missing");
	assert_not_found("");
}

TEST_CASE(without_a_crate_nothing_is_found)
{
	struct wire_memory_key key;

	assert_non_null(memory_keys__problem(broken.keys));
	assert_int_equal(memory_keys__find(broken.keys, "GlobalId", &key), 0);
}

TEST_MAIN(setup, teardown)
