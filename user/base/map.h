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
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash;
}

#endif /* QPROF_BASE_MAP_H */
