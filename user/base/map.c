// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/array.h"

#define FIRST_CAPACITY 64

/* Without random numbers, early in a boot, these. */
uint64_t map_secrets[2] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db};

/* Children that are forked have the same. */
static __attribute__((constructor)) void pick_secrets(void)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return;
	map_secrets[0] = random[0];
	/* An odd factor loses nothing. */
	map_secrets[1] = random[1] | 1;
}

/* After map_fold(), MurmurHash3's finaliser: every bit reaches the low bits, which alone are used.
 */
static uint64_t mix(uint64_t key)
{
	key = map_fold(key);
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdULL;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ULL;
	key ^= key >> 33;
	return key;
}

/* The slot that holds `key`, or the empty one where it would go. Needs an empty slot. */
static size_t find(const struct u64_map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t at = mix(key) & mask;

	while (map->slots[at].value != U64_MAP_NONE && map->slots[at].key != key)
		at = (at + 1) & mask;
	return at;
}

uint32_t u64_map__get(const struct u64_map *map, uint64_t key)
{
	return map->used ? map->slots[find(map, key)].value : U64_MAP_NONE;
}

static int grow(struct u64_map *map)
{
	struct u64_map bigger = {
		.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
		.used = map->used,
	};

	bigger.slots = malloc(bigger.capacity * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < bigger.capacity; i++)
		bigger.slots[i].value = U64_MAP_NONE;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value != U64_MAP_NONE)
			bigger.slots[find(&bigger, map->slots[i].key)] = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

int u64_map__put(struct u64_map *map, uint64_t key, uint32_t value)
{
	size_t at;

	/* At most half full, so that a search always meets an empty slot soon. */
	if (map->used * 2 >= map->capacity) {
		int err = grow(map);

		if (err)
			return err;
	}
	at = find(map, key);
	if (map->slots[at].value == U64_MAP_NONE)
		map->used++;
	map->slots[at] = (struct u64_map_slot){.key = key, .value = value};
	return 0;
}

void u64_map__remove(struct u64_map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t hole, at;

	if (!map->used)
		return;
	hole = find(map, key);
	if (map->slots[hole].value == U64_MAP_NONE)
		return;
	/* Close the hole: move back every follower that a search could no longer reach. */
	for (at = (hole + 1) & mask; map->slots[at].value != U64_MAP_NONE; at = (at + 1) & mask) {
		size_t home = mix(map->slots[at].key) & mask;

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			map->slots[hole] = map->slots[at];
			hole = at;
		}
	}
	map->slots[hole].value = U64_MAP_NONE;
	map->used--;
}

void u64_map__clear(struct u64_map *map)
{
	for (size_t i = 0; map->used && i < map->capacity; i++)
		map->slots[i].value = U64_MAP_NONE;
	map->used = 0;
}

void u64_map__destroy(struct u64_map *map)
{
	free(map->slots);
	*map = (struct u64_map){0};
}

/* ---- Ids ------------------------------------------------------------------------------------- */

#define PAGE_BITS 12
#define PAGE_IDS  (1u << PAGE_BITS)

uint32_t id_table__get(const struct id_table *t, uint32_t id)
{
	uint32_t page = id >> PAGE_BITS;

	if (page >= t->n_pages || !t->pages[page])
		return ID_TABLE_NONE;
	return t->pages[page][id % PAGE_IDS];
}

uint32_t id_table__next(const struct id_table *t, uint32_t from)
{
	for (uint32_t page = from >> PAGE_BITS; page < t->n_pages; page++) {
		uint32_t id = page == from >> PAGE_BITS ? from % PAGE_IDS : 0;

		while (t->pages[page] && id < PAGE_IDS && t->pages[page][id] == ID_TABLE_NONE)
			id++;
		if (t->pages[page] && id < PAGE_IDS)
			return (page << PAGE_BITS) + id;
	}
	return ID_TABLE_NONE;
}

int id_table__put(struct id_table *t, uint32_t id, uint32_t value)
{
	uint32_t page = id >> PAGE_BITS;

	if (array__reserve_at(&t->pages, page, &t->n_pages, sizeof(*t->pages)))
		return -ENOMEM;
	if (!t->pages[page]) {
		t->pages[page] = malloc(PAGE_IDS * sizeof(*t->pages[page]));
		if (!t->pages[page])
			return -ENOMEM;
		for (uint32_t i = 0; i < PAGE_IDS; i++)
			t->pages[page][i] = ID_TABLE_NONE;
	}
	t->pages[page][id % PAGE_IDS] = value;
	return 0;
}

void id_table__destroy(struct id_table *t)
{
	for (uint32_t i = 0; i < t->n_pages; i++)
		free(t->pages[i]);
	free(t->pages);
	*t = (struct id_table){0};
}
