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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_holds_nothing),
		cmocka_unit_test(a_put_replaces),
		cmocka_unit_test(it_agrees_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
