// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NS_PER_US 1000u
/* Codes below are the number itself; each octave above has half as many. */
#define CODE_BITS 11
#define CODE_HALF (1u << (CODE_BITS - 1))
/* The code of UINT64_MAX / NS_PER_US microseconds, and more than any time needs. */
#define CODE_MAX ((64u - CODE_BITS) * CODE_HALF + 2 * CODE_HALF - 1)

void pack_rows__clear(struct pack_rows *p)
{
	free(p->at);
	*p = (struct pack_rows){};
}

/* ---- The code of a time ---------------------------------------------------------------------- */

static unsigned int octave_of(uint64_t us)
{
	return us < 2 * CODE_HALF ? 0 : 64 - CODE_BITS - (unsigned int)__builtin_clzll(us);
}

static uint64_t code_of(uint64_t ns)
{
	uint64_t us = ns / NS_PER_US + (ns % NS_PER_US >= NS_PER_US / 2);
	unsigned int octave = octave_of(us);

	if (octave) {
		us += UINT64_C(1) << (octave - 1);
		octave = octave_of(us);
	}
	return (uint64_t)octave * CODE_HALF + (us >> octave);
}

static uint64_t time_of(uint64_t code)
{
	uint64_t octave = code < 2 * CODE_HALF ? 0 : code / CODE_HALF - 1, us;

	us = (code - octave * CODE_HALF) << octave;
	return us > (PACK_UNKNOWN - 1) / NS_PER_US ? PACK_UNKNOWN - 1 : us * NS_PER_US;
}

uint64_t pack_rounded(uint64_t ns)
{
	return ns == PACK_UNKNOWN ? ns : time_of(code_of(ns));
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

void pack_shape__encode(struct byte_buffer *out, const struct pack_format *f,
			const struct pack_rows *rows)
{
	uint64_t last = 0;

	byte_buffer__varint(out, rows->n);
	for (uint32_t i = 0; i < rows->n; i++) {
		byte_buffer__varint(out, rows->at[i].key - last);
		last = rows->at[i].key;
	}
	for (unsigned int c = 0; c < f->exact; c++)
		for (uint32_t i = 0; i < rows->n; i++)
			byte_buffer__varint(out, rows->at[i].exact[c] + 1);
}

/* SQLite gives no address of an empty value. */
static struct byte_reader reader_of(const uint8_t *bytes, size_t size)
{
	return (struct byte_reader){.at = bytes, .end = size ? bytes + size : bytes};
}

static int decode_keys(struct byte_reader *r, struct pack_rows *rows)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < rows->n && !r->bad; i++) {
		uint64_t key = last + byte_reader__varint(r);

		if (key <= last)
			return -EBADMSG;
		rows->at[i] = (struct pack_row){.key = key};
		for (unsigned int t = 0; t < PACK_TIMES; t++)
			rows->at[i].times[t] = PACK_UNKNOWN;
		last = key;
	}
	return 0;
}

int pack_shape__decode(const uint8_t *bytes, size_t size, const struct pack_format *f,
		       struct pack_rows *rows)
{
	struct byte_reader r = reader_of(bytes, size);
	uint64_t n = byte_reader__varint_max(&r, PACK_ROWS);

	/* Each takes a byte at least, so hostile bytes allocate no more than in proportion. */
	if (r.bad || n > size)
		return -EBADMSG;
	if (n > rows->capacity) {
		struct pack_row *at = realloc(rows->at, n * sizeof(*at));

		if (!at)
			return -ENOMEM;
		rows->at = at;
		rows->capacity = (uint32_t)n;
	}
	rows->n = (uint32_t)n;
	if (decode_keys(&r, rows))
		return -EBADMSG;
	for (unsigned int c = 0; c < f->exact; c++)
		for (uint32_t i = 0; i < rows->n && !r.bad; i++)
			rows->at[i].exact[c] = byte_reader__varint(&r) - 1;
	return r.bad || r.at != r.end ? -EBADMSG : 0;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static void encode_row(struct byte_buffer *out, const struct pack_format *f,
		       const struct pack_row *row)
{
	uint64_t first = row->times[0] == PACK_UNKNOWN ? 0 : code_of(row->times[0]);

	if (row->absent) {
		byte_buffer__varint(out, 0);
		return;
	}
	byte_buffer__varint(out, row->times[0] == PACK_UNKNOWN ? 1 : first + 2);
	for (unsigned int t = 1; t < f->times; t++) {
		uint64_t ns = row->times[t];

		byte_buffer__varint(out,
				    ns == PACK_UNKNOWN ? 0 : 1 + bytes_zigzag(code_of(ns) - first));
	}
}

void pack_times__encode(struct byte_buffer *out, const struct pack_format *f,
			const struct pack_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		encode_row(out, f, &rows->at[i]);
}

static void decode_row(struct byte_reader *r, const struct pack_format *f, struct pack_row *row)
{
	uint64_t head = byte_reader__varint_max(r, CODE_MAX + 2), first = head < 2 ? 0 : head - 2;

	row->absent = !head;
	if (row->absent)
		return;
	row->times[0] = head == 1 ? PACK_UNKNOWN : time_of(first);
	for (unsigned int t = 1; t < f->times; t++) {
		uint64_t v = byte_reader__varint_max(r, 1 + 2 * (uint64_t)CODE_MAX + 1);
		uint64_t code = first + bytes_unzigzag(v - 1);

		if (v && code > CODE_MAX)
			byte_reader__malformed(r);
		else
			row->times[t] = v ? time_of(code) : PACK_UNKNOWN;
	}
}

int pack_times__decode(const uint8_t *bytes, size_t size, const struct pack_format *f,
		       struct pack_rows *rows)
{
	struct byte_reader r = reader_of(bytes, size);

	for (uint32_t i = 0; i < rows->n && !r.bad; i++)
		decode_row(&r, f, &rows->at[i]);
	return r.bad || r.at != r.end ? -EBADMSG : 0;
}

static bool same_numbers(const struct pack_format *f, const struct pack_row *a,
			 const struct pack_row *b)
{
	return !memcmp(a->exact, b->exact, f->exact * sizeof(*a->exact));
}

bool pack_rows__fit(struct pack_rows *shape, const struct pack_format *f,
		    const struct pack_rows *rows)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < shape->n; i++) {
		struct pack_row *row = &shape->at[i];
		const struct pack_row *given = at < rows->n ? &rows->at[at] : NULL;

		row->absent = !given || given->key != row->key;
		if (row->absent)
			continue;
		if (!same_numbers(f, row, given))
			return false;
		memcpy(row->times, given->times, sizeof(row->times));
		at++;
	}
	return at == rows->n;
}

int pack_rows__unite(const struct pack_rows *shape, const struct pack_format *f,
		     const struct pack_rows *rows, struct pack_rows *out)
{
	uint32_t a = 0, b = 0;

	out->n = 0;
	while (a < shape->n || b < rows->n) {
		const struct pack_row *old = a < shape->n ? &shape->at[a] : NULL;
		const struct pack_row *new = b < rows->n ? &rows->at[b] : NULL;
		struct pack_row row;

		if (old && new && old->key == new->key && !same_numbers(f, old, new))
			return -EEXIST;
		if (old && (!new || old->key < new->key)) {
			row = *old;
			row.absent = true;
		} else {
			row = *new;
			row.absent = false;
		}
		a += old && old->key == row.key;
		b += new &&new->key == row.key;
		if (array__add(&out->at, &out->n, &out->capacity, &row))
			return -ENOMEM;
	}
	return 0;
}
