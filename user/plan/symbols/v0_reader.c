// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/v0_reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 500
#define STEPS_MAX 65536

bool demangled__put(struct demangled *d, const char *s, size_t len)
{
	if (len > DEMANGLED_MAX - d->len)
		return false;
	if (len)
		memcpy(d->text + d->len, s, len);
	d->len += len;
	return true;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

void v0__put_bytes(struct v0_reader *r, const char *s, size_t len)
{
	if (!r->bad && !r->silent)
		r->bad = !demangled__put(r->out, s, len);
}

void v0__put(struct v0_reader *r, const char *s)
{
	v0__put_bytes(r, s, strlen(s));
}

void v0__put_number(struct v0_reader *r, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	v0__put(r, text);
}

bool v0__eat(struct v0_reader *r, char c)
{
	if (r->bad || r->at == r->len || r->s[r->at] != c)
		return false;
	r->at++;
	r->bad = ++r->steps > STEPS_MAX;
	return true;
}

char v0__next(struct v0_reader *r)
{
	char c = r->at < r->len ? r->s[r->at] : '\0';

	if (r->bad || !c || !v0__eat(r, c)) {
		r->bad = true;
		return '\0';
	}
	return c;
}

bool v0__enter(struct v0_reader *r)
{
	if (r->depth == DEPTH_MAX)
		r->bad = true;
	if (r->bad)
		return false;
	r->depth++;
	return true;
}

void v0__leave(struct v0_reader *r)
{
	r->depth--;
}

/* ---- Numbers and names ----------------------------------------------------------------------- */

static int base62_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (islower((unsigned char)c))
		return c - 'a' + 10;
	return isupper((unsigned char)c) ? c - 'A' + 36 : -1;
}

uint64_t v0__read_base62(struct v0_reader *r)
{
	uint64_t n = 0;

	if (v0__eat(r, '_'))
		return 0;
	while (!r->bad && !v0__eat(r, '_')) {
		int digit = base62_digit(v0__next(r));

		if (digit < 0 || n > (UINT64_MAX - 63) / 62)
			r->bad = true;
		else
			n = n * 62 + (uint64_t)digit;
	}
	return n + 1;
}

uint64_t v0__read_optional(struct v0_reader *r, char tag)
{
	return v0__eat(r, tag) ? v0__read_base62(r) + 1 : 0;
}

size_t v0__read_hex(struct v0_reader *r, const char **digits, uint64_t *value)
{
	size_t n = 0;

	*digits = r->s + r->at;
	*value = 0;
	for (; !r->bad && !v0__eat(r, '_'); n++) {
		int digit = base62_digit(v0__next(r));

		if (digit < 0 || digit > 15)
			r->bad = true;
		*value = *value << 4 | (unsigned int)(digit & 15);
	}
	return n;
}

struct v0_name v0__read_name(struct v0_reader *r)
{
	bool is_punycode = v0__eat(r, 'u');
	char c = v0__next(r);
	size_t len = (size_t)(c - '0');
	struct v0_name ident = {0};

	if (!isdigit((unsigned char)c)) {
		r->bad = true;
		return ident;
	}
	while (len && len <= r->len && r->at < r->len && isdigit((unsigned char)r->s[r->at]))
		len = len * 10 + (size_t)(v0__next(r) - '0');
	v0__eat(r, '_');
	if (len > r->len - r->at)
		r->bad = true;
	if (r->bad)
		return ident;
	ident.ascii = r->s + r->at;
	ident.n_ascii = len;
	r->at += len;
	if (is_punycode) {
		/* The deltas follow the last '_'; without a '_', the whole name is deltas. */
		const char *line = memrchr(ident.ascii, '_', len);

		ident.n_ascii = line ? (size_t)(line - ident.ascii) : 0;
		ident.deltas = line ? line + 1 : ident.ascii;
		ident.n_deltas = line ? len - ident.n_ascii - 1 : len;
		r->bad = !ident.n_deltas;
	}
	return ident;
}

bool v0_name__is_empty(const struct v0_name *ident)
{
	return !ident->n_ascii && !ident->n_deltas;
}

void v0__put_name(struct v0_reader *r, const struct v0_name *ident)
{
	char text[PUNYCODE_BYTES_MAX];
	size_t len;

	if (r->bad || r->silent)
		return;
	if (!ident->n_deltas)
		v0__put_bytes(r, ident->ascii, ident->n_ascii);
	else if (punycode__decode(ident->ascii, ident->n_ascii, ident->deltas, ident->n_deltas,
				  text, &len))
		v0__put_bytes(r, text, len);
	else
		r->bad = true;
}

size_t v0__go_back(struct v0_reader *r)
{
	size_t tag = r->at - 1;
	uint64_t to = v0__read_base62(r);
	size_t behind = r->at;

	if (to >= tag)
		r->bad = true;
	if (r->bad || r->silent)
		return 0;
	r->at = (size_t)to;
	return behind;
}

/* ---- Lifetimes ------------------------------------------------------------------------------- */

void v0__put_lifetime(struct v0_reader *r, uint64_t index)
{
	uint64_t depth = r->bound - index;
	char letter = (char)('a' + depth % 26);

	if (index > r->bound)
		r->bad = true;
	v0__put(r, index ? "'" : "'_");
	if (index && depth < 26) {
		v0__put_bytes(r, &letter, 1);
	} else if (index) {
		v0__put(r, "_");
		v0__put_number(r, depth);
	}
}

void v0__read_binder(struct v0_reader *r)
{
	uint64_t n = v0__read_optional(r, 'G');

	/* The text of so many lifetimes would exceed the limit. */
	if (n > DEMANGLED_MAX && !r->silent)
		r->bad = true;
	if (r->bad || !n)
		return;
	if (r->silent) {
		/*
		 * Add the number at once instead of counting one by one. No reference reaches this
		 * depth.
		 */
		r->bound = n < UINT32_MAX ? r->bound + n : r->bound + UINT32_MAX;
		return;
	}
	v0__put(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		v0__put(r, i ? ", " : "");
		r->bound++;
		v0__put_lifetime(r, 1);
	}
	v0__put(r, "> ");
}

/* ---- Punycode -------------------------------------------------------------------------------- */

/* The parameters of RFC 3492, section 5. */
enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72, FIRST = 0x80 };

#define UNICODE_MAX 0x10ffffu

struct deltas {
	const char *s, *end;
	uint32_t bias;
	bool adapted;
};

/* One number of variable length. */
static bool read_delta(struct deltas *in, uint32_t *delta)
{
	uint64_t sum = 0, weight = 1;
	uint32_t k = BASE;

	for (; in->s < in->end; k += BASE) {
		uint32_t t = k <= in->bias + T_MIN ? T_MIN : k - in->bias;
		unsigned char c = (unsigned char)*in->s++;
		int digit = islower(c) ? c - 'a' : c - '0' + 26;

		t = t < T_MAX ? t : T_MAX;
		if ((!islower(c) && !isdigit(c)) || weight > UINT32_MAX)
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
