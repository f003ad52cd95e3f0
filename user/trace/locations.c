// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/locations.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"

/* The last number is not assigned: in a map it means "none". */
#define LOCATIONS_END UINT32_MAX

struct locations {
	struct u64_map start_of; /* key -> locindex of offset 0 */
	uint32_t next;		 /* the first number that is not assigned */
};

int locations__new(struct locations **out)
{
	struct locations *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->next = TRACE_NO_LOCATION + 1;
	*out = l;
	return 0;
}

/* Reserve a number for each byte of a function and one for its end. */
static int reserve(struct locations *l, uint64_t key, uint32_t size, uint32_t *start)
{
	int err;

	if (size >= LOCATIONS_END - l->next)
		return -EOVERFLOW;
	err = u64_map__put(&l->start_of, key, l->next);
	if (err)
		return err;
	*start = l->next;
	l->next += size + 1;
	return 0;
}

int locations__index(struct locations *l, uint64_t key, uint32_t size, uint32_t offset,
		     uint32_t *locindex, bool *is_new)
{
	uint32_t start;
	int err;

	if (offset > size)
		return -EINVAL;
	start = u64_map__get(&l->start_of, key);
	*is_new = start == U64_MAP_NONE;
	if (*is_new) {
		err = reserve(l, key, size, &start);
		if (err)
			return err;
	}
	*locindex = start + offset;
	return 0;
}

void locations__free(struct locations *l)
{
	if (!l)
		return;
	u64_map__destroy(&l->start_of);
	free(l);
}
