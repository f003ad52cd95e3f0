/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays that grow as items are added to them. */
#ifndef QPROF_BASE_ARRAY_H
#define QPROF_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Make sure that one more than `n` items of `size` bytes fit: `*array_p`, a pointer to the pointer
 * to the first, and `*capacity` change if they do not. 0, or -ENOMEM, which changes nothing.
 */
int array__reserve_one(void *array_p, uint32_t n, uint32_t *capacity, size_t size);

#endif /* QPROF_BASE_ARRAY_H */
