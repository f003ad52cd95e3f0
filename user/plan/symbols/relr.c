// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/relr.h"

#include <string.h>

#define WORD 8
/* Places of an odd word: a bit for each of the words that follow, and the lowest bit is set. */
#define PLACES 63

static int each_bit(uint64_t bits, uint64_t place, relr_fn each, void *arg)
{
	int err = 0;

	for (; bits && !err; bits >>= 1, place += WORD)
		if (bits & 1)
			err = each(arg, place);
	return err;
}

int relr__each(const uint8_t *table, size_t size, relr_fn each, void *arg)
{
	uint64_t word, next = 0;
	int err = 0;

	for (size_t i = 0; i + WORD <= size && !err; i += WORD) {
		memcpy(&word, table + i, WORD);
		if (word & 1) {
			if (next > UINT64_MAX - PLACES * WORD)
				break;
			err = each_bit(word >> 1, next, each, arg);
			next += PLACES * WORD;
		} else {
			if (word < next || word > UINT64_MAX - WORD)
				break;
			err = each(arg, word);
			next = word + WORD;
		}
	}
	return err;
}
