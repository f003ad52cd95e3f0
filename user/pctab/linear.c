// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "pctab/linear.h"

#include <errno.h>
#include <string.h>

#include "base/map.h"

#define CHUNK_PCS  256u
#define VALUES_MAX CHUNK_PCS /* in one chunk */

static unsigned int length_of_field(unsigned int field)
{
	return (1u << field) >> 1;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

struct encoder {
	const struct pctab_runs *runs;
	unsigned int quantum_shift;
	size_t run; /* that of the chunk's first pc */
	uint32_t *offsets;
	uint32_t n_chunks;
	struct u64_map constants; /* value -> offset of the first chunk with only that */
	struct pctab_buffer chunks;
};

static void encoder__destroy(struct encoder *e)
{
	free(e->offsets);
	u64_map__destroy(&e->constants);
	pctab_buffer__destroy(&e->chunks);
}

static void store_le(uint8_t *p, uint32_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* `n` pcs (NULL if none), and n + 1 values: at the start of the chunk, and from each pc on. */
static int put_chunk(struct encoder *e, const uint8_t *pcs, const int32_t *values, unsigned int n)
{
	uint8_t bytes[1 + CHUNK_PCS + VALUES_MAX / 4 + VALUES_MAX * 4] = {(uint8_t)n};
	uint8_t *lengths = bytes + 1 + n, *p = lengths + n / 4 + 1;

	if (n)
		memcpy(bytes + 1, pcs, n);
	for (unsigned int i = 0; i <= n; i++) {
		uint32_t bias = i ? (uint32_t)values[0] : 0;
		int32_t v = (int32_t)((uint32_t)values[i] - bias);
		unsigned int field = v == (int8_t)v ? 1 : v == (int16_t)v ? 2 : 3;

		lengths[i / 4] |= (uint8_t)(field << (2 * (i % 4)));
		store_le(p, (uint32_t)v, length_of_field(field));
		p += length_of_field(field);
	}
	return pctab_buffer__append(&e->chunks, bytes, (size_t)(p - bytes));
}

static int encode_chunk(struct encoder *e, uint32_t chunk)
{
	const struct pctab_run *runs = e->runs->runs;
	uint64_t limit = (chunk + UINT64_C(1)) << PCTAB_CHUNK_SHIFT; /* quanta */
	uint8_t pcs[CHUNK_PCS];
	int32_t values[VALUES_MAX];
	unsigned int n = 0;
	uint32_t earlier;

	if (e->chunks.size >= U64_MAP_NONE)
		return -EFBIG;
	e->offsets[chunk] = (uint32_t)e->chunks.size;
	values[0] = runs[e->run].value;
	/* The run that ends where the next chunk starts is not in that one. */
	while (e->run + 1 < e->runs->n) {
		uint32_t end = runs[e->run].end >> e->quantum_shift;

		if (end > limit)
			break;
		e->run++;
		if (end == limit)
			break;
		pcs[n++] = (uint8_t)end;
		values[n] = runs[e->run].value;
	}
	if (n)
		return put_chunk(e, pcs, values, n);
	/* A chunk of one value, unless an earlier one will do. */
	earlier = u64_map__get(&e->constants, (uint32_t)values[0]);
	if (earlier != U64_MAP_NONE) {
		e->offsets[chunk] = earlier;
		return 0;
	}
	return u64_map__put(&e->constants, (uint32_t)values[0], e->offsets[chunk])
		       ?: put_chunk(e, NULL, values, 0);
}

/* Bytes per entry of the narrowest index; an index of bytes cannot start with the other two's
 * marks. */
static unsigned int index_width(const struct encoder *e)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < e->n_chunks; i++) {
		if (e->offsets[i] > most)
			most = e->offsets[i];
	}
	if (most > UINT16_MAX)
		return 4;
	if (most > UINT8_MAX || (e->n_chunks > 1 && e->offsets[1] >= PCTAB_INDEX_WIDE))
		return 2;
	return 1;
}

/* Index and chunks to where they belong. */
static int put_table(struct encoder *e, struct pctab_buffer *out)
{
	unsigned int width = index_width(e), mark = width > 1;
	uint64_t index_size = mark + (uint64_t)(e->n_chunks - 1) * width;
	uint8_t *p;
	int err;

	if (index_size + e->chunks.size > UINT32_MAX)
		return -EFBIG;
	err = pctab_buffer__reserve(out, index_size + e->chunks.size);
	if (err)
		return err;
	p = out->data + out->size;
	if (mark)
		*p++ = width == 2 ? PCTAB_INDEX_WIDE : PCTAB_INDEX_WIDEST;
	for (uint32_t i = 1; i < e->n_chunks; i++, p += width)
		store_le(p, e->offsets[i], width);
	memcpy(p, e->chunks.data, e->chunks.size);
	out->size += index_size + e->chunks.size;
	return 0;
}

int pctab_linear__encode(struct pctab_buffer *out, const struct pctab_runs *runs,
			 unsigned int quantum_shift)
{
	__cleanup(encoder__destroy) struct encoder e = {.runs = runs,
							.quantum_shift = quantum_shift};
	int err;

	err = pctab_runs__check(runs, quantum_shift);
	if (err)
		return err;
	e.n_chunks = pctab_linear__chunks(pctab_runs__length(runs), quantum_shift);
	e.offsets = calloc(e.n_chunks, sizeof(*e.offsets));
	if (!e.offsets)
		return -ENOMEM;
	for (uint32_t i = 0; i < e.n_chunks; i++) {
		err = encode_chunk(&e, i);
		if (err)
			return err;
	}
	return put_table(&e, out);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

struct decoder {
	const struct pctab_linear *t;
	unsigned int quantum_shift;
	struct pctab_runs *runs;
	struct pctab_linear_stats stats;
	const uint8_t *index; /* behind its mark */
	const uint8_t *chunks;
	const uint8_t *end;
	const uint8_t *used; /* the end of the chunk that reaches farthest */
};

static uint32_t load_le(const uint8_t *p, unsigned int size)
{
	uint32_t v = 0;

	for (unsigned int i = 0; i < size; i++)
		v |= (uint32_t)p[i] << (8 * i);
	return v;
}

/* The value of that length, its sign extended. */
static uint32_t load_value(const uint8_t *p, unsigned int size)
{
	uint32_t v = load_le(p, size), sign = 1u << (8 * size - 1);

	return (v ^ sign) - sign;
}

static int decoder__init(struct decoder *d, const struct pctab_linear *t,
			 unsigned int quantum_shift, struct pctab_runs *runs)
{
	uint64_t index_size;
	unsigned int mark;

	*d = (struct decoder){
		.t = t, .quantum_shift = quantum_shift, .runs = runs, .end = t->data + t->size};
	if (!t->length || !t->size || quantum_shift > PCTAB_QUANTUM_SHIFT_MAX ||
	    t->length & ((1u << quantum_shift) - 1))
		return -EBADMSG;
	d->stats.chunks = pctab_linear__chunks(t->length, quantum_shift);
	if (d->stats.chunks > 1)
		d->stats.index_width = t->data[0] < PCTAB_INDEX_WIDE	? 1
				       : t->data[0] == PCTAB_INDEX_WIDE ? 2
									: 4;
	mark = d->stats.index_width > 1;
	index_size = mark + (uint64_t)(d->stats.chunks - 1) * d->stats.index_width;
	if (index_size >= t->size)
		return -EBADMSG;
	d->index = t->data + mark;
	d->chunks = d->used = t->data + index_size;
	return 0;
}

/* The runs of a chunk whose pcs and lengths are inside of the table. */
static int decode_values(struct decoder *d, const uint8_t *chunk, uint32_t first, uint32_t quanta)
{
	unsigned int n = chunk[0], shift = d->quantum_shift;
	const uint8_t *pcs = chunk + 1, *lengths = pcs + n, *p = lengths + n / 4 + 1;
	uint32_t bias = 0;

	for (unsigned int i = 0; i <= n; i++) {
		unsigned int size = length_of_field(lengths[i / 4] >> (2 * (i % 4)) & 3);
		uint32_t start = i ? pcs[i - 1] : 0, end = i < n ? pcs[i] : quanta;
		uint32_t value;
		int err;

		if (!size || (size_t)(d->end - p) < size || end <= start || end > quanta)
			return -EBADMSG;
		value = bias + load_value(p, size);
		if (!i)
			bias = value;
		p += size;
		err = pctab_runs__add(d->runs, (first + end) << shift, (int32_t)value);
		if (err)
			return err;
	}
	if (p > d->used)
		d->used = p;
	return 0;
}

static int decode_chunk(struct decoder *d, uint32_t i)
{
	uint32_t total = d->t->length >> d->quantum_shift;
	uint32_t first = i << PCTAB_CHUNK_SHIFT;
	unsigned int width = d->stats.index_width, n, unused;
	uint32_t offset = i ? load_le(d->index + (size_t)(i - 1) * width, width) : 0;
	const uint8_t *chunk;

	if (offset >= (size_t)(d->end - d->chunks))
		return -EBADMSG;
	chunk = d->chunks + offset;
	n = chunk[0];
	if ((size_t)(d->end - chunk) < 1 + n + n / 4 + 1)
		return -EBADMSG;
	/* The bits behind the last length are 0. */
	unused = 2 * (n % 4 + 1);
	if (chunk[1 + n + n / 4] >> unused)
		return -EBADMSG;
	if (n > d->stats.most_pcs)
		d->stats.most_pcs = n;
	/* A chunk that ends no farther than an earlier one is shared. */
	d->stats.constant += !n;
	d->stats.shared += !n && chunk < d->used;
	return decode_values(d, chunk, first,
			     total - first < CHUNK_PCS ? total - first : CHUNK_PCS);
}

int pctab_linear__decode(const struct pctab_linear *t, unsigned int quantum_shift,
			 struct pctab_runs *runs, struct pctab_linear_stats *stats)
{
	struct decoder d;
	int err;

	pctab_runs__clear(runs);
	err = decoder__init(&d, t, quantum_shift, runs);
	for (uint32_t i = 0; !err && i < d.stats.chunks; i++)
		err = decode_chunk(&d, i);
	if (err)
		return err;
	if (d.used != d.end)
		return -EBADMSG;
	if (stats)
		*stats = d.stats;
	return 0;
}

/* ---- Look-up --------------------------------------------------------------------------------- */

/* Where the chunk of `pc` starts: its offset, at or beyond the size if the index is damaged. */
static uint64_t chunk_at(const struct pctab_linear *t, unsigned int quantum_shift, uint32_t pc)
{
	unsigned int shift = PCTAB_CHUNK_SHIFT + quantum_shift, width, mark;
	uint32_t last = (t->length - 1) >> shift, chunk = pc >> shift;
	uint64_t chunks;
	const uint8_t *p;

	/* A function of one chunk has no index: there the first byte means something else. */
	if (!last || !t->size)
		return 0;
	width = t->data[0] < PCTAB_INDEX_WIDE ? 1 : t->data[0] == PCTAB_INDEX_WIDE ? 2 : 4;
	mark = width > 1;
	chunks = mark + (uint64_t)last * width;
	if (!chunk || chunks >= t->size)
		return chunks;
	p = t->data + mark + (uint64_t)(chunk - 1) * width;
	if (width == 1)
		return chunks + *p;
	return chunks + (width == 2 ? load_le(p, 2) : load_le(p, 4));
}

/* The value with this 2-bit field at `p`, which has so many bytes. */
static uint32_t value_at(const uint8_t *p, unsigned int field)
{
	if (field == 1)
		return (uint32_t)(int8_t)*p;
	return field == 2 ? load_value(p, 2) : load_value(p, 4);
}

/* The value at `pc`, counted in quanta from the start of the chunk. */
static int read_chunk(const uint8_t *chunk, const uint8_t *end, uint8_t pc, int32_t *value)
{
	unsigned int n = *chunk, at = 0, field;
	const uint8_t *pcs = chunk + 1, *lengths = pcs + n, *p = lengths + n / 4 + 1, *first = p;

	if ((size_t)(end - chunk) < 1 + n + n / 4 + 1)
		return -EBADMSG;
	while (at < n && pcs[at] <= pc)
		at++;
	for (unsigned int i = 0; i < at; i++)
		p += length_of_field(lengths[i / 4] >> (2 * (i % 4)) & 3);
	field = lengths[at / 4] >> (2 * (at % 4)) & 3;
	if (!field || p > end || (size_t)(end - p) < length_of_field(field))
		return -EBADMSG;
	*value = (int32_t)value_at(p, field);
	if (at && *lengths & 3)
		*value = (int32_t)((uint32_t)*value + value_at(first, *lengths & 3));
	return 0;
}

int pctab_linear__lookup(const struct pctab_linear *t, unsigned int quantum_shift, uint32_t pc,
			 int32_t *value)
{
	uint64_t start;

	if (pc >= t->length)
		return -ERANGE;
	start = chunk_at(t, quantum_shift, pc);
	return start < t->size ? read_chunk(t->data + start, t->data + t->size,
					    (uint8_t)(pc >> quantum_shift), value)
			       : -EBADMSG;
}
