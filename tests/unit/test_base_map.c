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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_holds_nothing),
		cmocka_unit_test(a_put_replaces),
		cmocka_unit_test(it_agrees_with_an_array),
		cmocka_unit_test(other_bytes_have_another_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
