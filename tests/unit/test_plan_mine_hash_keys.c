// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/vtables.h"

#include "test.h"
#define LIBRARY "hash_keys.so"
#include "../fixtures/image.h"

static const char *mine_at(const char *body, const struct body_run_table *cache,
			   struct hash_keys *out)
{
	const char *problem = "not set";

	*out = (struct hash_keys){.size = 77, .key = 77};
	assert_int_equal(hash_keys__mine(img, symbol(img, body)->addr, cache, out, &problem), 0);
	return problem;
}

static const char *mine(const char *body, struct hash_keys *out)
{
	return mine_at(body, &(struct body_run_table){.at = 0x28, .ctrl = 0, .mask = 8}, out);
}

static void found(const char *body, uint32_t size, uint32_t key)
{
	struct hash_keys out;

	assert_null(mine(body, &out));
	assert_int_equal(out.size, size);
	assert_int_equal(out.key, key);
}

TEST_CASE(a_key_is_stored_beside_its_value)
{
	found("by_value", 12, 4);
	found("shifted", 16, 0);
	found("shards", 8, 0);
}

TEST_CASE(a_key_in_memory_is_copied)
{
	found("in_memory", 0x38, 8);
}

TEST_CASE(a_text_is_moved_at_once)
{
	static const char *const others[] = {"no_number", "text_in_parts", "two_texts", "in_memory",
					     "by_value"};
	struct hash_keys out;

	assert_null(mine("text", &out));
	assert_true(out.has_text);
	assert_int_equal(out.text, 0x10);
	assert_null(mine("text_behind", &out));
	assert_true(out.has_text);
	assert_int_equal(out.text, 0x18);
	for (size_t i = 0; i < N_OF(others); i++) {
		assert_null(mine(others[i], &out));
		assert_false(out.has_text);
	}
}

TEST_CASE(keys_are_stored_in_many_ways)
{
	/* Another function gets the cache. */
	found("given_away", 0x20, 8);
	/* A function compares the key. */
	found("compared", 0x20, 8);
	/* Half of what is moved may be the key. */
	found("behind_another", 0x18, 8);
	/* Code is seen again with the cache. */
	found("seen_without", 16, 8);
}

TEST_CASE(a_cache_may_have_a_place)
{
	struct body_run_table cache = {.at = 0x5000, .mask = 8, .has_place = true, .word = 0x10};
	struct hash_keys out;

	assert_null(mine_at("placed", &cache, &out));
	assert_int_equal(out.size, 16);
	assert_int_equal(out.key, 8);
	cache.word = 0x18;
	assert_non_null(mine_at("placed", &cache, &out));
}

TEST_CASE(what_does_not_agree_is_a_problem)
{
	static const char *const bodies[] = {
		"another", "two_sizes",	 "two_places",		 "beyond",
		"no_key",  "no_context", "compared_with_another"};

	for (size_t i = 0; i < N_OF(bodies); i++) {
		struct hash_keys out;

		assert_non_null(mine(bodies[i], &out));
		assert_int_equal(out.size, 77);
		assert_int_equal(out.key, 77);
	}
}

TEST_MAIN(image_setup, image_teardown)
