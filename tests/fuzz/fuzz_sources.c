// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as what the kernel half copied of a compiler's spans, source files and lines, and
 * finds the place of every definition, and the call of the macro that made it. A place has a file
 * with a name, and a line of it.
 *
 * An input is the way of the buckets (two bytes), and records: table, number, size, offset, bytes.
 */
#include <errno.h>

#include "decode/sources.h"
#include "fuzz.h"

#define ASKED 512

struct record_head {
	uint8_t table;
	uint8_t number;
	uint16_t size;
	uint32_t offset;
};

static void add(struct sources *s, const struct record_head *h, const uint8_t *bytes, uint32_t n)
{
	struct wire_piece *r = calloc(1, sizeof(*r));
	int err;

	expect(r);
	r->table = h->table % 7 < 5 ? WIRE_TABLE_SPANS + h->table % 7
				    : WIRE_TABLE_CONTEXTS + (h->table % 7 - 5);
	r->number = h->number;
	/* Filling a large gap takes long, so few are tried. */
	r->offset = h->offset & 0xfffff;
	r->size = n < WIRE_PIECE_MAX ? n : WIRE_PIECE_MAX;
	memcpy(r->bytes, bytes, r->size);
	err = sources__add(s, r);
	expect(!err || err == -EBADMSG);
	free(r);
}

static void add_records(struct sources *s, const uint8_t *data, size_t size)
{
	struct record_head h;
	const uint8_t *bytes;
	uint32_t n;

	while ((bytes = fuzz_headed_record(&data, &size, &h, &n)))
		add(s, &h, bytes, n);
}

static const struct wire_layout_calls calls = {
	.context_size = 8, .number = 4, .expansion_size = 12, .call = 4, .kind = 1, .tag = 3};

static void find(struct sources *s, const struct wire_layout_places *l, uint32_t index)
{
	struct place p, again;

	if (!sources__find(s, l, index, &p)) {
		expect(!sources__find(s, l, index, &again));
		return;
	}
	expect(p.line && p.line <= p.file->n_lines);
	expect(*sources__name(s, p.file));
	expect(sources__find(s, l, index, &again));
	expect(again.file == p.file && again.line == p.line && again.context == p.context);
	if (sources__call(s, &calls, &p, &again))
		expect(p.context && again.line && again.line <= again.file->n_lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_layout_places l = {.known = 1};
	struct sources s = {0};

	if (size < 2)
		return 0;
	l.first = 1u << data[0] % 5;
	l.step = 1 + data[1] % 2;
	add_records(&s, data + 2, size - 2);
	for (uint32_t i = 0; i < ASKED; i++)
		find(&s, &l, i);
	find(&s, &l, UINT32_MAX);
	sources__clear(&s);
	return 0;
}
