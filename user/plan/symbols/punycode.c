// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/punycode.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* The parameters of RFC 3492, section 5. */
enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72, FIRST = 0x80 };

#define UNICODE_MAX 0x10ffffu

struct deltas {
	const char *s, *end;
	uint32_t bias;
	bool adapted;
};

static uint32_t threshold(uint32_t k, uint32_t bias)
{
	if (k <= bias + T_MIN)
		return T_MIN;
	return k - bias < T_MAX ? k - bias : T_MAX;
}

/* Value of a digit; -1 for any other character. */
static int digit_of(char c)
{
	if (islower((unsigned char)c))
		return c - 'a';
	return isdigit((unsigned char)c) ? c - '0' + 26 : -1;
}

/* One number of variable length. */
static bool read_delta(struct deltas *in, uint32_t *delta)
{
	uint64_t sum = 0, weight = 1;
	uint32_t k = BASE;

	for (; in->s < in->end; k += BASE) {
		uint32_t t = threshold(k, in->bias);
		int digit = digit_of(*in->s++);

		if (digit < 0 || weight > UINT32_MAX)
			return false;
		sum += (uint64_t)digit * weight;
		if (sum > UINT32_MAX)
			return false;
		if ((uint32_t)digit < t) {
			*delta = (uint32_t)sum;
			return true;
		}
		weight *= BASE - t;
	}
	return false;
}

static void adapt(struct deltas *in, uint32_t delta, uint32_t n)
{
	uint32_t k = 0;

	delta /= in->adapted ? 2 : DAMP;
	in->adapted = true;
	delta += delta / n;
	for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
		delta /= BASE - T_MIN;
	in->bias = k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* Insert the letters that the deltas encode. Returns the number of letters, or 0. */
static uint32_t insert_all(struct deltas *in, uint32_t *letters, uint32_t n)
{
	uint64_t letter = FIRST, at = 0;

	while (in->s < in->end) {
		uint32_t delta;

		if (n == PUNYCODE_LETTERS_MAX || !read_delta(in, &delta))
			return 0;
		n++;
		at += delta;
		letter += at / n;
		at %= n;
		if (letter > UNICODE_MAX || (letter >= 0xd800 && letter < 0xe000))
			return 0;
		memmove(letters + at + 1, letters + at, (n - 1 - at) * sizeof(*letters));
		letters[at++] = (uint32_t)letter;
		adapt(in, delta, n);
	}
	return n;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

bool punycode__decode(const char *ascii, size_t n_ascii, const char *deltas, size_t n_deltas,
		      char out[static PUNYCODE_BYTES_MAX], size_t *n_out)
{
	uint32_t letters[PUNYCODE_LETTERS_MAX], n;
	struct deltas in = {deltas, deltas + n_deltas, .bias = BIAS};
	size_t len = 0;

	if (n_ascii > PUNYCODE_LETTERS_MAX || !n_deltas)
		return false;
	for (size_t i = 0; i < n_ascii; i++)
		letters[i] = (unsigned char)ascii[i];
	n = insert_all(&in, letters, (uint32_t)n_ascii);
	if (!n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		len += put_utf8(out + len, letters[i]);
	*n_out = len;
	return true;
}
