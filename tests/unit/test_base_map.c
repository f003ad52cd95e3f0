// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/map.h"
#include "base/array.h"
#include "base/table.h"

#include "test.h"
#include "../fixtures/random.h"

TEST_CASE(an_empty_map_holds_nothing)
{
	struct u64_map map = {0};

	assert_int_equal(u64_map__get(&map, 0), U64_MAP_NONE);
	u64_map__remove(&map, 0);
	u64_map__clear(&map);
	u64_map__destroy(&map);
}

TEST_CASE(a_put_replaces)
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
TEST_CASE(it_agrees_with_an_array)
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
TEST_CASE(other_bytes_have_another_hash)
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
TEST_CASE(keys_that_were_made_to_collide_do_not)
{
	struct u64_map map = {0};

	assert_int_equal(key_of_murmur(0), 0);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(u64_map__put(&map, key_of_murmur((uint64_t)i << 20), i), 0);
	assert_true(longest_run(&map) < 1000);
	u64_map__destroy(&map);
}

/* Ids in the upper half, and a label in the lower one, as in most keys. */
TEST_CASE(dense_keys_are_spread)
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
TEST_CASE(texts_that_were_made_to_collide_do_not)
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

/* ---- Array ----------------------------------------------------------------------------------- */

TEST_CASE(growing_the_array_keeps_its_items)
{
	uint64_t *items = NULL;
	uint32_t capacity = 0, n = 0;

	for (; n < 1000; n++) {
		assert_int_equal(array__reserve_one(&items, n, &capacity, sizeof(*items)), 0);
		assert_true(n < capacity);
		items[n] = n;
	}
	assert_true(capacity < 2 * n + 16);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(items[i], i);
	free(items);
}

TEST_CASE(an_added_item_is_copied_to_the_end)
{
	struct pair {
		uint64_t key;
		char name[3];
	} *items = NULL;
	uint32_t capacity = 0, n = 0;

	for (uint64_t i = 0; i < 100; i++) {
		struct pair p = {100 - i, {(char)i, 'x'}};

		assert_int_equal(array__add(&items, &n, &capacity, &p), 0);
		assert_int_equal(n, i + 1);
	}
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(items[i].key, 100 - i);
		assert_int_equal(items[i].name[0], i);
		assert_int_equal(items[i].name[1], 'x');
	}
	free(items);
}

TEST_CASE(numbers_are_found_and_ordered_as_unsigned)
{
	uint64_t at[] = {1ull << 63, 3, UINT64_MAX, 0, 3};
	const uint64_t sorted[] = {0, 3, 3, 1ull << 63, UINT64_MAX}, key = 1ull << 63;

	assert_true(array__has_u64(at, 5, 0));
	assert_false(array__has_u64(at, 3, 0));
	assert_false(array__has_u64(NULL, 0, 0));
	qsort(at, 5, sizeof(*at), array__by_u64);
	assert_memory_equal(at, sorted, sizeof(sorted));
	assert_ptr_equal(bsearch(&key, at, 5, sizeof(*at), array__by_u64), &at[3]);
}

TEST_CASE(reserving_an_index_zeroes_the_new_items)
{
	static const uint32_t at[] = {0, 15, 16, 17, 1000, 40, 2500, 2001};
	uint16_t *items = NULL;
	uint32_t n = 0;

	for (size_t k = 0; k < N_OF(at); k++) {
		uint32_t before = n;

		assert_int_equal(array__reserve_at(&items, at[k], &n, sizeof(*items)), 0);
		assert_true(at[k] < n && n >= before);
		assert_true(n == before || n >= 2 * before);
		for (uint32_t i = before; i < n; i++)
			assert_int_equal(items[i], 0);
		items[at[k]] = 7;
	}
	for (size_t k = 0; k < N_OF(at); k++)
		assert_int_equal(items[at[k]], 7);
	assert_int_equal(array__reserve_at(&items, UINT32_MAX, &n, sizeof(*items)), -ENOMEM);
	assert_true(n < 10000);
	free(items);
}

TEST_CASE(appended_bytes_keep_their_order)
{
	char *bytes = NULL;
	size_t len = 0, capacity = 0;

	for (int i = 0; i < 3000; i++) {
		assert_int_equal(bytes__append(&bytes, &len, &capacity, "abc", 3), 0);
		assert_int_equal(len, 3 * (i + 1));
		assert_true(capacity >= len);
	}
	for (size_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], "abc"[i % 3]);
	free(bytes);
}

TEST_CASE(memory_that_is_not_there_changes_nothing)
{
	char *items = NULL;
	uint32_t capacity = 0, n = 0;

	assert_int_equal(array__reserve_one(&items, 0, &capacity, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(array__add_bytes(&items, &n, &capacity, "", SIZE_MAX / 2), -ENOMEM);
	assert_null(items);
	assert_int_equal(n, 0);
	assert_int_equal(capacity, 0);
}

/* ---- Table ----------------------------------------------------------------------------------- */

struct item {
	uint64_t key;
	uint32_t count;
};

TEST_CASE(an_item_is_added_once_with_its_initialisers)
{
	TABLE(struct item) t = {0};

	assert_null(table__find(&t, 7));
	table__get(&t, 7, .key = 7, .count = 5)->count++;
	table__get(&t, 7, .key = 8, .count = 50)->count++;
	assert_int_equal(t.n, 1);
	assert_int_equal(t.at[0].key, 7);
	assert_int_equal(t.at[0].count, 7);
	assert_int_equal(table__get(&t, UINT64_MAX)->count, 0);
	assert_int_equal(t.n, 2);
	table__destroy(&t);
	assert_int_equal(t.n, 0);
	assert_null(table__find(&t, 7));
}

TEST_CASE(items_keep_their_order_and_are_found_again)
{
	TABLE(struct item) t = {0};

	for (uint64_t i = 0; i < 10000; i++)
		assert_non_null(table__get(&t, i << 32 | (i ^ 5), .key = i));
	assert_int_equal(t.n, 10000);
	for (uint64_t i = 10000; i-- > 0;) {
		assert_int_equal(t.at[i].key, i);
		assert_ptr_equal(table__find(&t, i << 32 | (i ^ 5)), &t.at[i]);
		assert_ptr_equal(table__get(&t, i << 32 | (i ^ 5)), &t.at[i]);
	}
	assert_null(table__find(&t, 3));
	assert_int_equal(t.n, 10000);
	table__destroy(&t);
}

/* ---- Id table -------------------------------------------------------------------------------- */

TEST_CASE(an_empty_table_holds_nothing)
{
	struct id_table t = {0};

	assert_true(id_table__get(&t, 0) == ID_TABLE_NONE);
	assert_true(id_table__get(&t, UINT32_MAX) == ID_TABLE_NONE);
	assert_true(id_table__next(&t, 0) == ID_TABLE_NONE);
	id_table__destroy(&t);
}

TEST_CASE(the_last_value_holds)
{
	struct rng rng = rng_new();
	struct id_table t = {0};
	static uint32_t model[20000];

	for (uint32_t i = 0; i < 20000; i++)
		model[i] = ID_TABLE_NONE;
	for (int i = 0; i < 50000; i++) {
		uint32_t id = rng_below(&rng, 20000);

		model[id] = rng_below(&rng, ID_TABLE_NONE);
		assert_int_equal(id_table__put(&t, id, model[id]), 0);
	}
	for (uint32_t i = 0; i < 20000; i++)
		assert_true(id_table__get(&t, i) == model[i]);
	assert_true(id_table__get(&t, 1u << 31) == ID_TABLE_NONE);
	id_table__destroy(&t);
}

TEST_CASE(all_that_have_a_value_are_met_in_order)
{
	static const uint32_t ids[] = {3, 4, 4095, 4096, 50000, 3u << 30};
	struct id_table t = {0};
	uint32_t next = 0;

	for (size_t i = 0; i < N_OF(ids); i++)
		assert_int_equal(id_table__put(&t, ids[i], 7), 0);
	for (size_t i = 0; i < N_OF(ids); i++) {
		assert_true(id_table__next(&t, next) == ids[i]);
		next = ids[i] + 1;
	}
	assert_true(id_table__next(&t, next) == ID_TABLE_NONE);
	id_table__destroy(&t);
}

TEST_CASE(the_greatest_id_is_one_too)
{
	struct id_table t = {0};

	assert_int_equal(id_table__put(&t, UINT32_MAX, 5), 0);
	assert_int_equal(id_table__get(&t, UINT32_MAX), 5);
	assert_true(id_table__get(&t, UINT32_MAX - 1) == ID_TABLE_NONE);
	assert_int_equal(id_table__put(&t, 0, 6), 0);
	assert_int_equal(id_table__get(&t, 0), 6);
	id_table__destroy(&t);
	assert_true(id_table__get(&t, 0) == ID_TABLE_NONE);
}

TEST_MAIN(NULL, NULL)
