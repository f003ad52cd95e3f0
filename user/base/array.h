/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The size of an array, and arrays that grow as items are added to them. */
#ifndef QPROF_BASE_ARRAY_H
#define QPROF_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items of an array whose size the compiler knows. */
#define N_OF(array) (sizeof(array) / sizeof(*(array)))

/*
 * Make room for one more than `n` items of `size` bytes. `array_p` points to the pointer to the
 * first item; it and `*capacity` change if there is no room. 0, or -ENOMEM, which changes nothing.
 */
int array__reserve_one(void *array_p, uint32_t n, uint32_t *capacity, size_t size);

/*
 * As array__reserve_one(), and add a copy of `*item` at the end: `*n` becomes one more. An item of
 * another type does not compile.
 */
#define array__add(array_p, n, capacity, item)                                         \
	({                                                                             \
		const __typeof__(**(array_p)) *__item = (item);                        \
		array__add_bytes((array_p), (n), (capacity), __item, sizeof(*__item)); \
	})
int array__add_bytes(void *array_p, uint32_t *n, uint32_t *capacity, const void *item, size_t size);

/*
 * Make sure that there is an item of `size` bytes at `index`. If `*n` items are too few,
 * `*array_p`, as above, and `*n` change; the new items, which may be several, are all zeroes. 0, or
 * -ENOMEM, which changes nothing.
 */
int array__reserve_at(void *array_p, uint32_t index, uint32_t *n, size_t size);

/*
 * Add `size` bytes at the end of `*len` in `*bytes_p`, which grows by more than it must. 0, or
 * -ENOMEM, which changes nothing.
 */
int bytes__append(char **bytes_p, size_t *len, size_t *capacity, const void *bytes, size_t size);

/* Whether any of `n` numbers is `value`. */
bool array__has_u64(const uint64_t *array, size_t n, uint64_t value);

/* For qsort() and bsearch(), of items that begin with such a number: the order of these numbers. */
int array__by_u32(const void *a, const void *b);
int array__by_u64(const void *a, const void *b);

#endif /* QPROF_BASE_ARRAY_H */
