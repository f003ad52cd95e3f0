// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/time_code.h"

#define NS_PER_US  UINT64_C(1000)
#define EXACT_BITS 5  /* of a time that is kept to 1 us */
#define MOST_BITS  10 /* significant ones of any time */
#define TIME_BITS  55 /* of the longest time */

/* The number of bits of the microseconds, from the highest set one. */
static unsigned int bits_of(uint64_t us)
{
	return us ? 64 - (unsigned int)__builtin_clzll(us) : 0;
}

static unsigned int significant(unsigned int bits)
{
	unsigned int n = bits <= EXACT_BITS ? bits : EXACT_BITS + (bits - EXACT_BITS) / 3;

	return n < MOST_BITS ? n : MOST_BITS;
}

/* The number of codes of times of that many bits: the highest one is always set. */
static uint32_t codes(unsigned int bits)
{
	return UINT32_C(1) << (significant(bits) - 1);
}

static unsigned int dropped(uint64_t us)
{
	return bits_of(us) - significant(bits_of(us));
}

uint32_t time_code(uint64_t ns)
{
	uint64_t half = (NS_PER_US / 2) << dropped(ns / NS_PER_US);
	uint64_t us = (ns > UINT64_MAX - half ? UINT64_MAX : ns + half) / NS_PER_US;
	uint32_t code = 1;

	if (!us)
		return 0;
	for (unsigned int bits = 1; bits < bits_of(us); bits++)
		code += codes(bits);
	return code + (uint32_t)(us >> dropped(us)) - codes(bits_of(us));
}

uint64_t time_code__ns(uint32_t code)
{
	unsigned int bits = 1;
	uint64_t us;

	if (!code)
		return 0;
	code--;
	for (; bits < TIME_BITS && code >= codes(bits); bits++)
		code -= codes(bits);
	us = (uint64_t)(code + codes(bits)) << (bits - significant(bits));
	return us > (UINT64_MAX - 1) / NS_PER_US ? UINT64_MAX - 1 : us * NS_PER_US;
}
