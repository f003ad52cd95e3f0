// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/bits.h"
#include "history/time_code.h"

/* The most of a zigzag difference of codes, or of differences of codes. */
#define DIFFERENCE_MAX (8u * TIME_CODE_END)
#define LESS_BITS      3

void pack_rows__clear(struct pack_rows *p)
{
	free(p->at);
	*p = (struct pack_rows){};
}

static uint32_t code_of(uint64_t ns)
{
	return ns == PACK_UNKNOWN ? 0 : time_code(ns);
}

uint64_t pack_rounded(uint64_t ns)
{
	return ns == PACK_UNKNOWN ? ns : time_code__ns(time_code(ns));
}

static unsigned int width_of(uint32_t v)
{
	return v ? 32 - (unsigned int)__builtin_clz(v) : 0;
}

/*
 * How many low bits a difference usually has, by measured builds: the first time of a row differs
 * by its noise, the others, beyond that, by what they have more than the first.
 */
static unsigned int usual_bits(const struct pack_row *row, unsigned int t)
{
	uint32_t first = row->expected[0];
	unsigned int width;

	if (!t) {
		width = width_of(first);
		return width < 2 ? 0 : width < 7 ? width - 1 : 5;
	}
	width = width_of(row->expected[t] > first ? row->expected[t] - first
						  : first - row->expected[t]);
	return width < 4 ? width : 4 + width / 2;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void encode_numbers(struct byte_buffer *out, const struct pack_rows *rows, unsigned int c)
{
	bool common = rows->n > 0;

	for (uint32_t i = 1; i < rows->n && common; i++)
		common = rows->at[i].exact[c] == rows->at[0].exact[c];
	byte_buffer__varint(out, common);
	for (uint32_t i = 0; i < (common ? 1 : rows->n); i++)
		byte_buffer__varint(out, rows->at[i].exact[c] + 1);
}

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
		encode_numbers(out, rows, c);
	for (unsigned int t = 0; t < f->times; t++)
		for (uint32_t i = 0; i < rows->n; i++)
			byte_buffer__varint(out, rows->at[i].expected[t]);
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

static void decode_numbers(struct byte_reader *r, struct pack_rows *rows, unsigned int c)
{
	bool common = byte_reader__varint_max(r, rows->n > 0);

	for (uint32_t i = 0; i < rows->n && !r->bad; i++)
		rows->at[i].exact[c] =
			i && common ? rows->at[0].exact[c] : byte_reader__varint(r) - 1;
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
		decode_numbers(&r, rows, c);
	for (unsigned int t = 0; t < f->times; t++)
		for (uint32_t i = 0; i < rows->n && !r.bad; i++) {
			struct pack_row *row = &rows->at[i];

			row->expected[t] = (uint32_t)byte_reader__varint_max(&r, TIME_CODE_END - 1);
			row->usual[t] = (uint8_t)usual_bits(row, t);
		}
	return r.bad || r.at != r.end ? -EBADMSG : 0;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static unsigned int bits_of(unsigned int usual, unsigned int less)
{
	return usual > less ? usual - less : 0;
}

/* The code of a time if it differs from the shape as the first time of its row does. */
static uint32_t expected(const struct pack_row *row, unsigned int t, uint32_t first)
{
	return t ? row->expected[t] + first - row->expected[0] : row->expected[0];
}

static uint64_t difference(const struct pack_row *row, unsigned int t)
{
	int32_t more = (int32_t)(code_of(row->times[t]) - expected(row, t, code_of(row->times[0])));

	return bytes_zigzag((uint64_t)(int64_t)more);
}

/* The number of bits to leave out with which the times of this column take the fewest bits. */
static unsigned int best_less(const struct pack_rows *rows, unsigned int t)
{
	uint64_t bits[1 << LESS_BITS] = {};
	unsigned int best = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		const struct pack_row *row = &rows->at[i];
		unsigned int usual = usual_bits(row, t);
		uint64_t d = difference(row, t);

		if (row->absent || row->times[t] == PACK_UNKNOWN)
			continue;
		for (unsigned int less = 0; less < N_OF(bits); less++)
			bits[less] += bits_of_rice(d, bits_of(usual, less));
	}
	for (unsigned int less = 1; less < N_OF(bits); less++)
		if (bits[less] < bits[best])
			best = less;
	return best;
}

struct times_head {
	bool absent;  /* some rows may be */
	bool unknown; /* some times may be */
	unsigned int less[PACK_TIMES];
};

static struct times_head head_of(const struct pack_format *f, const struct pack_rows *rows)
{
	struct times_head h = {};

	for (uint32_t i = 0; i < rows->n; i++) {
		h.absent |= rows->at[i].absent;
		for (unsigned int t = 0; t < f->times && !rows->at[i].absent; t++)
			h.unknown |= rows->at[i].times[t] == PACK_UNKNOWN;
	}
	for (unsigned int t = 0; t < f->times; t++)
		h.less[t] = best_less(rows, t);
	return h;
}

static void encode_row(struct bit_writer *w, const struct pack_format *f,
		       const struct times_head *h, const struct pack_row *row)
{
	if (h->absent)
		bit_writer__put(w, row->absent, 1);
	for (unsigned int t = 0; t < f->times && !row->absent; t++) {
		bool unknown = row->times[t] == PACK_UNKNOWN;

		if (h->unknown)
			bit_writer__put(w, unknown, 1);
		if (!unknown)
			bit_writer__rice(w, difference(row, t),
					 bits_of(usual_bits(row, t), h->less[t]));
	}
}

void pack_times__encode(struct byte_buffer *out, const struct pack_format *f,
			const struct pack_rows *rows)
{
	struct bit_writer w = {.out = out};
	struct times_head h = head_of(f, rows);

	bit_writer__put(&w, h.absent, 1);
	bit_writer__put(&w, h.unknown, 1);
	for (unsigned int t = 0; t < f->times; t++)
		bit_writer__put(&w, h.less[t], LESS_BITS);
	for (uint32_t i = 0; i < rows->n; i++)
		encode_row(&w, f, &h, &rows->at[i]);
	bit_writer__end(&w);
}

/* The codes of a row; of a time that is not known TIME_CODE_END. */
static void decode_row(struct bit_reader *r, const struct pack_format *f,
		       const struct times_head *h, struct pack_row *row, uint32_t *codes)
{
	uint32_t first = 0;

	row->absent = h->absent && bit_reader__get(r, 1);
	for (unsigned int t = 0; t < f->times && !row->absent; t++) {
		uint64_t d;

		codes[t] = TIME_CODE_END;
		if (h->unknown && bit_reader__get(r, 1))
			continue;
		d = bit_reader__rice(r, bits_of(row->usual[t], h->less[t]));
		codes[t] = expected(row, t, first) + (uint32_t)bytes_unzigzag(d);
		if (d > DIFFERENCE_MAX || codes[t] >= TIME_CODE_END)
			r->bad = true;
		if (!t)
			first = codes[0];
	}
}

static void skip_row(struct bit_reader *r, const struct pack_format *f, const struct times_head *h,
		     const struct pack_row *row)
{
	if (h->absent && bit_reader__get(r, 1))
		return;
	for (unsigned int t = 0; t < f->times; t++)
		if (!h->unknown || !bit_reader__get(r, 1))
			bit_reader__skip_rice(r, bits_of(row->usual[t], h->less[t]));
}

static void read_row(struct bit_reader *r, const struct pack_format *f, const struct times_head *h,
		     struct pack_row *row)
{
	uint32_t codes[PACK_TIMES];

	decode_row(r, f, h, row, codes);
	for (unsigned int t = 0; t < f->times && !row->absent && !r->bad; t++)
		row->times[t] = codes[t] == TIME_CODE_END ? PACK_UNKNOWN : time_code__ns(codes[t]);
}

struct pack_row *pack_rows__find(const struct pack_rows *rows, uint64_t key)
{
	uint32_t low = 0, high = rows->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows->at[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rows->n && rows->at[low].key == key ? &rows->at[low] : NULL;
}

int pack_times__decode(const uint8_t *bytes, size_t size, const struct pack_format *f, uint64_t key,
		       struct pack_rows *rows)
{
	struct bit_reader r = {.at = bytes, .end = size ? bytes + size : bytes};
	struct pack_row *wanted = key ? pack_rows__find(rows, key) : NULL;
	uint32_t before = wanted ? (uint32_t)(wanted - rows->at) : rows->n;
	struct times_head h = {};

	if (key && !wanted)
		return 0;
	h.absent = bit_reader__get(&r, 1);
	h.unknown = bit_reader__get(&r, 1);
	for (unsigned int t = 0; t < f->times; t++)
		h.less[t] = (unsigned int)bit_reader__get(&r, LESS_BITS);
	for (uint32_t i = 0; i < before && !r.bad; i++)
		if (wanted)
			skip_row(&r, f, &h, &rows->at[i]);
		else
			read_row(&r, f, &h, &rows->at[i]);
	if (wanted)
		read_row(&r, f, &h, wanted);
	return wanted ? (r.bad ? -EBADMSG : 0) : bit_reader__ends(&r) ? 0 : -EBADMSG;
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
			for (unsigned int t = 0; t < PACK_TIMES; t++)
				row.expected[t] = code_of(row.times[t]);
		}
		a += old && old->key == row.key;
		b += new &&new->key == row.key;
		if (array__add(&out->at, &out->n, &out->capacity, &row))
			return -ENOMEM;
	}
	return 0;
}
