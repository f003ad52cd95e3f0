// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/bits.h"

#define WIDTH_BITS 5

static unsigned int width_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

void bit_writer__put(struct bit_writer *w, uint64_t bits, unsigned int n)
{
	w->bits |= bits << w->n;
	for (w->n += n; w->n >= 8; w->n -= 8) {
		uint8_t byte = (uint8_t)w->bits;

		byte_buffer__bytes(w->out, &byte, 1);
		w->bits >>= 8;
	}
}

void bit_writer__rice(struct bit_writer *w, uint64_t v, unsigned int k)
{
	uint64_t upper = v >> k;

	if (upper < BITS_ONES) {
		bit_writer__put(w, (UINT64_C(1) << upper) - 1, (unsigned int)upper + 1);
		bit_writer__put(w, v & ((UINT64_C(1) << k) - 1), k);
		return;
	}
	bit_writer__put(w, (1 << BITS_ONES) - 1, BITS_ONES);
	bit_writer__put(w, width_of(v), WIDTH_BITS);
	bit_writer__put(w, v, width_of(v));
}

void bit_writer__end(struct bit_writer *w)
{
	if (w->n)
		bit_writer__put(w, 0, 8 - w->n);
}

unsigned int bits_of_rice(uint64_t v, unsigned int k)
{
	uint64_t upper = v >> k;

	return upper < BITS_ONES ? (unsigned int)upper + 1 + k
				 : BITS_ONES + WIDTH_BITS + width_of(v);
}

/* Have 32 bits or more, if there are that many. */
static void fill(struct bit_reader *r)
{
	if (r->n <= 32 && r->end - r->at >= 4) {
		r->bits |= (uint64_t)bytes_load_u32(r->at) << r->n;
		r->at += 4;
		r->n += 32;
		return;
	}
	for (; r->n <= 32 && r->at < r->end; r->n += 8)
		r->bits |= (uint64_t)*r->at++ << r->n;
}

uint64_t bit_reader__get(struct bit_reader *r, unsigned int n)
{
	uint64_t v;

	fill(r);
	if (n > r->n)
		r->bad = true;
	if (r->bad)
		return 0;
	v = r->bits & ((UINT64_C(1) << n) - 1);
	r->bits >>= n;
	r->n -= n;
	return v;
}

uint64_t bit_reader__rice(struct bit_reader *r, unsigned int k)
{
	unsigned int ones;

	fill(r);
	ones = (unsigned int)__builtin_ctzll(~r->bits | UINT64_C(1) << BITS_ONES);
	if (ones == BITS_ONES) {
		bit_reader__get(r, BITS_ONES);
		return bit_reader__get(r, (unsigned int)bit_reader__get(r, WIDTH_BITS));
	}
	bit_reader__get(r, ones + 1);
	return (uint64_t)ones << k | bit_reader__get(r, k);
}

void bit_reader__skip_rice(struct bit_reader *r, unsigned int k)
{
	unsigned int n;

	fill(r);
	n = (unsigned int)__builtin_ctzll(~r->bits | UINT64_C(1) << BITS_ONES);
	if (n == BITS_ONES || n + 1 + k > r->n) {
		bit_reader__rice(r, k);
		return;
	}
	n += 1 + k;
	r->bits >>= n;
	r->n -= n;
}

bool bit_reader__ends(const struct bit_reader *r)
{
	return !r->bad && r->at == r->end && r->n < 8 && !r->bits;
}
