/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A hash map from 64-bit keys to 32-bit values: open addressing, linear probing, no tombstones.
 * The values are mostly indices into an array that the owner keeps.
 */
#ifndef QPROF_BASE_MAP_H
#define QPROF_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Not a legal value: marks an empty slot. */
#define U64_MAP_NONE UINT32_MAX

struct u64_map_slot {
	uint64_t key;
	uint32_t value;
};

/* All zeroes is an empty map. */
struct u64_map {
	struct u64_map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t used;
};

/* The value of `key`, or U64_MAP_NONE. */
uint32_t u64_map__get(const struct u64_map *map, uint64_t key);

/* Add or replace; 0 or -ENOMEM, which changes nothing. `value` is not U64_MAP_NONE. */
int u64_map__put(struct u64_map *map, uint64_t key, uint32_t value);

/* Remove `key` if it is there. */
void u64_map__remove(struct u64_map *map, uint64_t key);

/* Forget all keys, keep the memory. */
void u64_map__clear(struct u64_map *map);

/* Forget all keys, free the memory; the map may be used again. */
void u64_map__destroy(struct u64_map *map);

/*
 * Two numbers that each process picks anew. Keys come from traces, libraries and processes of
 * others, who could else choose them so that all of them meet in one slot. So no hash may be
 * stored, and no output may depend on the order of hashes.
 */
extern uint64_t map_secrets[2];

/* One word of a key. The product has 128 bits, and all of them depend on both numbers. */
static inline uint64_t map_fold(uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(word ^ map_secrets[0]) * map_secrets[1];

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash by which a text or another key of any size is looked up in a map, 8 bytes at a time. */
static inline uint64_t map_hash(const void *key, size_t size)
{
	const uint8_t *bytes = key;
	uint64_t hash = size;

	for (size_t n; size; bytes += n, size -= n) {
		uint64_t word = 0;

		n = size < sizeof(word) ? size : sizeof(word);
		if (n == sizeof(word))
			memcpy(&word, bytes, sizeof(word));
		else
			memcpy(&word, bytes, n);
		hash = map_fold(hash ^ word);
	}
	return hash;
}

/*
 * A table from ids to 32-bit values, for ids that are mostly dense. It takes about 4 bytes per id
 * where they are dense, and at most 16 KiB per id elsewhere.
 */

#define ID_TABLE_NONE UINT32_MAX /* not a legal value */

/* All zeroes is an empty table. */
struct id_table {
	uint32_t **pages;
	uint32_t n_pages;
};

/* The value of `id`, or ID_TABLE_NONE. */
uint32_t id_table__get(const struct id_table *t, uint32_t id);

/* The least id from `from` on that has a value, or ID_TABLE_NONE. Gaps are skipped by the page. */
uint32_t id_table__next(const struct id_table *t, uint32_t from);

/* Add or replace; 0 or -ENOMEM. `value` is not ID_TABLE_NONE. */
int id_table__put(struct id_table *t, uint32_t id, uint32_t value);

void id_table__destroy(struct id_table *t);

#endif /* QPROF_BASE_MAP_H */
