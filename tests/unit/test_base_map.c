// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/map.h"

#include "test.h"
#include "../fixtures/random.h"

static void an_empty_map_holds_nothing(void **state)
{
	struct u64_map map = {0};

	assert_int_equal(u64_map__get(&map, 0), U64_MAP_NONE);
	u64_map__remove(&map, 0);
	u64_map__clear(&map);
	u64_map__destroy(&map);
}

static void a_put_replaces(void **state)
{
	struct u64_map map = {0};

	assert_int_equal(u64_map__put(&map, 7, 1), 0);
	assert_int_equal(u64_map__put(&map, 7, 2), 0);
	assert_int_equal(u64_map__get(&map, 7), 2);
	assert_int_equal(map.used, 1);
	u64_map__clear(&map);
	assert_int_equal(u64_map__get(&map, 7), U64_MAP_NONE);
	u64_map__destroy(&map);
}

/* Few keys keep the map near its limit, so that searches collide and removals close holes. */
static void it_agrees_with_an_array(void **state)
{
	enum { KEYS = 400 };
	struct rng rng = rng_new();
	uint32_t model[KEYS];
	struct u64_map map = {0};
	size_t used = 0;

	for (int i = 0; i < KEYS; i++)
		model[i] = U64_MAP_NONE;
	for (int step = 0; step < 20000; step++) {
		uint64_t key = rng_below(&rng, KEYS);
		uint64_t far = key << 32 | key;

		if (rng_below(&rng, 2)) {
			used += model[key] == U64_MAP_NONE;
			model[key] = rng_below(&rng, 1000);
			assert_int_equal(u64_map__put(&map, far, model[key]), 0);
		} else {
			used -= model[key] != U64_MAP_NONE;
			model[key] = U64_MAP_NONE;
			u64_map__remove(&map, far);
		}
		assert_int_equal(map.used, used);
		if (step % 100)
			continue;
		for (uint64_t k = 0; k < KEYS; k++)
			assert_int_equal(u64_map__get(&map, k << 32 | k), model[k]);
	}
	u64_map__destroy(&map);
}

/* Every byte counts, and so does the size. */
static void other_bytes_have_another_hash(void **state)
{
	uint8_t bytes[40] = {0};

	for (size_t size = 0; size < sizeof(bytes); size++) {
		uint64_t hash = map_hash(bytes, size);

		assert_true(hash != map_hash(bytes, size + 1));
		for (size_t i = 0; i < size; i++) {
			bytes[i] = 1;
			assert_true(hash != map_hash(bytes, size));
			bytes[i] = 0;
		}
		assert_true(hash == map_hash(bytes, size));
	}
}

/* x ^ x >> 33 undoes itself, and an odd number has an inverse modulo 2^64. */
static uint64_t inverse(uint64_t factor)
{
	uint64_t x = factor;

	for (int i = 0; i < 6; i++)
		x *= 2 - factor * x;
	return x;
}

/* The key that MurmurHash3's finaliser makes `hash` of. */
static uint64_t key_of_murmur(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= inverse(0xc4ceb9fe1a85ec53);
	hash ^= hash >> 33;
	hash *= inverse(0xff51afd7ed558ccd);
	return hash ^ hash >> 33;
}

/* Slots that a search for an absent key passes at most. */
static size_t longest_run(const struct u64_map *map)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i < 2 * map->capacity; i++) {
		bool used = map->slots[i % map->capacity].value != U64_MAP_NONE;

		run = used ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* Of a hash without a secret all of them have the lowest 20 bits. */
static void keys_that_were_made_to_collide_do_not(void **state)
{
	struct u64_map map = {0};

	assert_int_equal(key_of_murmur(0), 0);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(u64_map__put(&map, key_of_murmur((uint64_t)i << 20), i), 0);
	assert_true(longest_run(&map) < 1000);
	u64_map__destroy(&map);
}

/* Ids in the upper half, and a label in the lower one, as in most keys. */
static void dense_keys_are_spread(void **state)
{
	for (unsigned int shift = 0; shift < 48; shift++) {
		struct u64_map map = {0};

		for (uint64_t i = 0; i < 4000; i++)
			assert_int_equal(u64_map__put(&map, i << shift | 7, 1), 0);
		assert_true(longest_run(&map) < 500);
		u64_map__destroy(&map);
	}
}

/* By the first word's highest bit, which a factor moves nowhere, and what it becomes. */
static void texts_that_were_made_to_collide_do_not(void **state)
{
	const uint64_t bit = 1ULL << 63;
	uint64_t words[2] = {0x6161616161616161, 0x6262626262626262}, hash, factor, other;

	hash = map_hash(words, sizeof(words));
	words[0] ^= bit;
	words[1] ^= bit | bit >> 32;
	assert_true(map_hash(words, sizeof(words)) != hash);
	/* The word that makes all hashes equal where the factor is known. */
	for (uint64_t i = 0; i < 100; i++) {
		words[0] = i;
		factor = (sizeof(words) ^ words[0]) * 0x9e3779b97f4a7c15;
		words[1] = factor ^ factor >> 32;
		other = map_hash(words, sizeof(words));
		assert_true(i == 0 || other != hash);
		hash = other;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_holds_nothing),
		cmocka_unit_test(a_put_replaces),
		cmocka_unit_test(it_agrees_with_an_array),
		cmocka_unit_test(other_bytes_have_another_hash),
		cmocka_unit_test(keys_that_were_made_to_collide_do_not),
		cmocka_unit_test(dense_keys_are_spread),
		cmocka_unit_test(texts_that_were_made_to_collide_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
