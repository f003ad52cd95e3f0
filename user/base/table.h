/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Items by 64-bit key. They lie in one array, in the order in which they were added, and are never
 * removed. Asking for the same key again and again costs one comparison.
 *
 *	TABLE(struct thread) threads; // all zeroes is empty
 *
 *	struct thread *t = table__get(&threads, key, .tid = tid);
 *	for (uint32_t i = 0; i < threads.n; i++)
 *		use(&threads.at[i]);
 *	table__destroy(&threads);
 */
#ifndef QPROF_BASE_TABLE_H
#define QPROF_BASE_TABLE_H

#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

#define TABLE_NONE U64_MAP_NONE

struct table_index {
	struct u64_map index_of;
	uint64_t last_key;
	uint32_t last; /* index of last_key + 1; 0: there is no last key */
};

/* An item's pointer is valid until the next one is added; its index, always. */
#define TABLE(type)                       \
	struct {                          \
		type *at;                 \
		uint32_t n;               \
		uint32_t capacity;        \
		struct table_index index; \
	}

/* The index of a key, or TABLE_NONE. */
static inline uint32_t table_index__find(struct table_index *index, uint64_t key)
{
	uint32_t i;

	if (index->last && index->last_key == key)
		return index->last - 1;
	i = u64_map__get(&index->index_of, key);
	if (i != TABLE_NONE) {
		index->last_key = key;
		index->last = i + 1;
	}
	return i;
}

/*
 * Give a key that has none the index *n, and make room for its item, of `size` bytes, in the array
 * as array__reserve_one() does. Returns the index, or TABLE_NONE without memory.
 */
uint32_t table_index__add(struct table_index *index, uint64_t key, void *array_p, uint32_t *n,
			  uint32_t *capacity, size_t size);

/* The item of a key, or NULL. */
#define table__find(table, key)                                               \
	({                                                                    \
		__auto_type __find_in = (table);                              \
		uint32_t __found = table_index__find(&__find_in->index, key); \
		__found == TABLE_NONE ? NULL : &__find_in->at[__found];       \
	})

/*
 * The item of a key. A key without one gets a new item, with the initialisers that follow. NULL
 * without memory.
 */
#define table__get(table, key, ...)                                                            \
	({                                                                                     \
		__auto_type __get_in = (table);                                                \
		uint64_t __key = (key);                                                        \
		uint32_t __at = table_index__find(&__get_in->index, __key);                    \
		if (__at == TABLE_NONE) {                                                      \
			__at = table_index__add(&__get_in->index, __key, &__get_in->at,        \
						&__get_in->n, &__get_in->capacity,             \
						sizeof(*__get_in->at));                        \
			if (__at != TABLE_NONE)                                                \
				__get_in->at[__at] = (__typeof__(*__get_in->at)){__VA_ARGS__}; \
		}                                                                              \
		__at == TABLE_NONE ? NULL : &__get_in->at[__at];                               \
	})

/* Free the items; the table is empty then. */
#define table__destroy(table)                                   \
	({                                                      \
		__auto_type __destroyed = (table);              \
		u64_map__destroy(&__destroyed->index.index_of); \
		free(__destroyed->at);                          \
		*__destroyed = (__typeof__(*__destroyed)){0};   \
	})

#endif /* QPROF_BASE_TABLE_H */
