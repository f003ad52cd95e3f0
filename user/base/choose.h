/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A choice without a jump. Where one is as good as random to a processor, as the nesting of queries
 * is, a wrong guess costs more than both sides; and of `?:` compilers make a jump where they like.
 */
#ifndef QPROF_BASE_CHOOSE_H
#define QPROF_BASE_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* `a` if `first`, else `b`. */
static inline uint64_t choose(bool first, uint64_t a, uint64_t b)
{
	uint64_t mask = -(uint64_t)first;

	return (a & mask) | (b & ~mask);
}

#endif /* QPROF_BASE_CHOOSE_H */
