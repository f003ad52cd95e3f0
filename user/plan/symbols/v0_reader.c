// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/v0_reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/symbols/punycode.h"

#define DEPTH_MAX 500
#define STEPS_MAX 65536

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

/* The deltas of punycode follow the last '_'; without a '_', the whole name is deltas. */
static void split_punycode(struct v0_reader *r, struct v0_name *ident)
{
	size_t len = ident->n_ascii;
	const char *line = memrchr(ident->ascii, '_', len);

	ident->n_ascii = line ? (size_t)(line - ident->ascii) : 0;
	ident->deltas = line ? line + 1 : ident->ascii;
	ident->n_deltas = line ? len - ident->n_ascii - 1 : len;
	if (!ident->n_deltas)
		r->bad = true;
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
	if (is_punycode)
		split_punycode(r, &ident);
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
