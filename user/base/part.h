/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_BASE_PART_H
#define QPROF_BASE_PART_H

#include <stdint.h>

/* Of a value, what `part` has in `whole`; 0 if that is 0. */
static inline uint64_t part_of(uint64_t value, uint64_t part, uint64_t whole)
{
	/* Long double: the product may have more than 64 bits. */
	return whole ? (uint64_t)((long double)value * part / whole) : 0;
}

/* What is left of a value without a part that may be an estimate. */
static inline uint64_t less(uint64_t value, uint64_t part)
{
	return value > part ? value - part : 0;
}

#endif /* QPROF_BASE_PART_H */
