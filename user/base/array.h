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

/*
 * Make sure that there is an item at `index`, of `size` bytes: `*array_p`, as above, and `*n`, the
 * items that are there, change if there is none. New ones are all zeroes, and may be more than one.
 * 0, or -ENOMEM, which changes nothing.
 */
int array__reserve_at(void *array_p, uint32_t index, uint32_t *n, size_t size);

#endif /* QPROF_BASE_ARRAY_H */
