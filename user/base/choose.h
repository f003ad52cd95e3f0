/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A choice without a jump. Where the processor cannot predict it, as the nesting of queries, a
 * wrong guess costs more than computing both sides. Compilers may turn `?:` into a jump.
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
