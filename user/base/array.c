// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

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
