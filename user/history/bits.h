/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Numbers as bits, by Rice codes: the upper bits of a number as so many ones and a zero, then its
 * lower `k` bits. After BITS_ONES ones follow instead the number of its bits, and they. Bytes are
 * filled from the lowest bit; the last is filled up with zeroes.
 */
#ifndef QPROF_HISTORY_BITS_H
#define QPROF_HISTORY_BITS_H

#include "trace/bytes.h"

#define BITS_ONES 12
#define BITS_MAX  31 /* of a number */

struct bit_writer {
	struct byte_buffer *out; /* its `failed` tells of a lack of memory */
	uint64_t bits;
	unsigned int n; /* bits that are not in `out` yet, below 8 */
};

void bit_writer__put(struct bit_writer *w, uint64_t bits, unsigned int n);
/* `v` below 2^BITS_MAX, `k` at most 16. */
void bit_writer__rice(struct bit_writer *w, uint64_t v, unsigned int k);
void bit_writer__end(struct bit_writer *w);

/* The bits that bit_writer__rice() takes. */
unsigned int bits_of_rice(uint64_t v, unsigned int k);

struct bit_reader {
	const uint8_t *at, *end;
	uint64_t bits;
	unsigned int n;
	bool bad; /* read past the end: all that is read is 0 */
};

uint64_t bit_reader__get(struct bit_reader *r, unsigned int n);
uint64_t bit_reader__rice(struct bit_reader *r, unsigned int k);
/* Read past one. */
void bit_reader__skip_rice(struct bit_reader *r, unsigned int k);
/* Whether nothing was bad, all bytes were read, and the rest of the last is zero. */
bool bit_reader__ends(const struct bit_reader *r);

#endif /* QPROF_HISTORY_BITS_H */
