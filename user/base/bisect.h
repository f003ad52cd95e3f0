/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_BASE_BISECT_H
#define QPROF_BASE_BISECT_H

#include <stddef.h>

/*
 * The least `i` below `n` for which `is_before`, an expression with `i`, is false; `n` if there is
 * none. The expression must be true for all before that, and false from there on.
 */
#define bisect(n, i, is_before)                                  \
	({                                                       \
		size_t __low = 0, __high = (n);                  \
		while (__low < __high) {                         \
			size_t i = __low + (__high - __low) / 2; \
			if (is_before)                           \
				__low = i + 1;                   \
			else                                     \
				__high = i;                      \
		}                                                \
		__low;                                           \
	})

#endif /* QPROF_BASE_BISECT_H */
