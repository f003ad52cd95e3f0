// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/id_map.h"

#include "test.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"

#define _byte_buffer_ __cleanup(byte_buffer__destroy)
#define _id_map_      __cleanup(id_map__destroy)

#define N_IDS	  200000u
#define N_STRINGS 5000u

static int take(struct id_map *m, const struct byte_buffer *b)
{
	struct byte_reader in = {b->data, b->data + b->size, false};

	return id_map__take(m, &in, 3, N_STRINGS);
}

/* Random ranges and lists; later ones overwrite parts of earlier ones. */
static void random_mappings(struct rng *rng, uint32_t *want, struct byte_buffer *out)
{
	struct id_map_next next = {0};
	uint32_t list[300];

	byte_buffer__varint(out, 2);
	byte_buffer__varint(out, 100);
	for (int k = 0; k < 100; k++) {
		struct trace_mapping m = {
			.first = rng_below(rng, N_IDS - 5000),
			.n = 1 + rng_below(rng, rng_below(rng, 2) ? 5 : 4000),
			.string = rng_below(rng, N_STRINGS - 4000),
			.series = rng_below(rng, 2),
		};

		if (!rng_below(rng, 3)) {
			m.n = 1 + rng_below(rng, 300);
			m.strings = list;
			for (uint32_t i = 0; i < m.n; i++)
				list[i] = rng_below(rng, N_STRINGS);
		}
		id_map__store(out, &m, &next);
		for (uint32_t i = 0; i < m.n; i++)
			want[m.first + i] = m.strings  ? list[i]
					    : m.series ? m.string + i
						       : m.string;
	}
}

static void the_last_mapping_of_an_id_holds(void **state)
{
	struct rng rng = rng_new();
	uint32_t *want = malloc(N_IDS * sizeof(*want));
	_id_map_ struct id_map m = {0};

	for (uint32_t i = 0; i < N_IDS; i++)
		want[i] = ID_MAP_NONE;
	assert_false(id_map__has(&m, 2));
	for (int chunk = 0; chunk < 5; chunk++) {
		_byte_buffer_ struct byte_buffer b = {0};

		random_mappings(&rng, want, &b);
		assert_int_equal(take(&m, &b), 0);
	}
	for (uint32_t i = 0; i < N_IDS; i++) {
		assert_int_equal(id_map__get(&m, 2, i), want[i]);
		assert_int_equal(id_map__get(&m, 1, i), ID_MAP_NONE);
	}
	assert_true(id_map__has(&m, 2));
	assert_false(id_map__has(&m, 1));
	assert_int_equal(id_map__takes(&m, 2), 5);
	assert_int_equal(id_map__takes(&m, 1), 0);
	free(want);
}

static void every_cut_is_noticed(void **state)
{
	struct rng rng = rng_new();
	uint32_t *want = malloc(N_IDS * sizeof(*want));
	_byte_buffer_ struct byte_buffer b = {0};

	random_mappings(&rng, want, &b);
	while (b.size--) {
		_id_map_ struct id_map m = {0};

		assert_int_equal(take(&m, &b), -EBADMSG);
	}
	free(want);
}

/* Without a limit, a few bytes would take gigabytes of memory. */
static void ids_far_apart_meet_a_limit(void **state)
{
	_byte_buffer_ struct byte_buffer b = {0};
	struct id_map_next next = {0};
	struct trace_mapping far = {.n = 1};
	_id_map_ struct id_map m = {0};
	int err = 0;

	for (uint32_t i = 0; !err && i <= QPT_MAP_BLOCKS_MAX; i++) {
		byte_buffer__clear(&b);
		next = (struct id_map_next){0};
		byte_buffer__varint(&b, 1);
		byte_buffer__varint(&b, 1);
		far.first = i * QPT_MAP_BLOCK;
		id_map__store(&b, &far, &next);
		err = take(&m, &b);
		if (m.blocks.n == 3) /* skip blocks: all of them take long under a sanitizer */
			i = QPT_MAP_BLOCKS_MAX - 1, m.blocks.n = QPT_MAP_BLOCKS_MAX;
	}
	assert_int_equal(err, -EBADMSG);
	m.blocks.n = 3;
}

/* 2^27 ids in a few bytes. */
static void ranges_take_no_memory_by_id(void **state)
{
	struct id_map_next next = {0};
	struct trace_mapping all = {.first = 3, .n = QPT_MAPPED_MAX - QPT_MAP_BLOCK, .string = 7};
	_byte_buffer_ struct byte_buffer b = {0};
	_id_map_ struct id_map m = {0};
	uint32_t unfolded = 0;

	byte_buffer__varint(&b, 1);
	byte_buffer__varint(&b, 1);
	id_map__store(&b, &all, &next);
	assert_int_equal(take(&m, &b), 0);
	for (uint32_t i = 0; i < m.blocks.n; i++)
		unfolded += m.blocks.at[i].refs != NULL;
	assert_int_equal(unfolded, 2);
	assert_int_equal(id_map__get(&m, 1, 2), ID_MAP_NONE);
	assert_int_equal(id_map__get(&m, 1, 3), 7);
	assert_int_equal(id_map__get(&m, 1, 5000000), 7);
	assert_int_equal(id_map__get(&m, 1, all.n + 2), 7);
	assert_int_equal(id_map__get(&m, 1, all.n + 3), ID_MAP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_mapping_of_an_id_holds),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(ids_far_apart_meet_a_limit),
		cmocka_unit_test(ranges_take_no_memory_by_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
