// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/table.h"

uint32_t table_index__add(struct table_index *index, uint64_t key, void *array_p, uint32_t *n,
			  uint32_t *capacity, size_t size)
{
	if (array__reserve_one(array_p, *n, capacity, size) ||
	    u64_map__put(&index->index_of, key, *n))
		return TABLE_NONE;
	index->last_key = key;
	index->last = *n + 1;
	return (*n)++;
}
