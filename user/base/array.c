// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 16

int array__reserve_one(void *array_p, uint32_t n, uint32_t *capacity, size_t size)
{
	void **array = array_p;
	uint32_t more = *capacity ? *capacity * 2 : LEAST;
	void *p;

	if (n < *capacity)
		return 0;
	if (more < *capacity)
		return -ENOMEM;
	p = reallocarray(*array, more, size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*capacity = more;
	return 0;
}

int array__add_bytes(void *array_p, uint32_t *n, uint32_t *capacity, const void *item, size_t size)
{
	if (array__reserve_one(array_p, *n, capacity, size))
		return -ENOMEM;
	memcpy(*(char **)array_p + (*n)++ * size, item, size);
	return 0;
}

int array__reserve_at(void *array_p, uint32_t index, uint32_t *n, size_t size)
{
	void **array = array_p;
	uint32_t more = *n <= UINT32_MAX / 2 ? *n * 2 : UINT32_MAX;
	char *p;

	if (index < *n)
		return 0;
	if (index == UINT32_MAX)
		return -ENOMEM;
	if (more <= index)
		more = index + 1;
	if (more < LEAST)
		more = LEAST;
	p = reallocarray(*array, more, size);
	if (!p)
		return -ENOMEM;
	memset(p + *n * size, 0, (more - *n) * size);
	*array = p;
	*n = more;
	return 0;
}

int bytes__append(char **bytes_p, size_t *len, size_t *capacity, const void *bytes, size_t size)
{
	if (*capacity - *len < size) {
		size_t more = 2 * (*len + size) + 4096;
		char *grown = realloc(*bytes_p, more);

		if (!grown)
			return -ENOMEM;
		*bytes_p = grown;
		*capacity = more;
	}
	if (size)
		memcpy(*bytes_p + *len, bytes, size);
	*len += size;
	return 0;
}

bool array__has_u64(const uint64_t *array, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (array[i] == value)
			return true;
	return false;
}

int array__by_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int array__by_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}
