// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/codec.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/symbols/dwarf_bytes.h"

#ifndef UNWIND_REVISION /* the Makefile sets it */
#define UNWIND_REVISION 0u
#endif

#define MAGIC	     0x74757071u /* "qput" */
#define REVISION     (UNWIND_CODEC_VERSION ^ UNWIND_REVISION)
#define CHECKED_FROM UNWIND_CODEC_CHECKED_FROM
#define HEADER	     UNWIND_CODEC_HEADER
#define SEGMENT	     24
#define RULE	     8
#define PAGE	     4

/*
 * Words in four chains: a CRC would take longer than all the rest of reading a table. Each step is
 * a bijection, so no change of a single word goes unnoticed.
 */
static void add_words(uint64_t sums[4], const uint8_t *p)
{
	uint64_t words[4];

	memcpy(words, p, sizeof(words));
	for (int i = 0; i < 4; i++)
		sums[i] = (sums[i] ^ words[i]) * 0x9e3779b97f4a7c15;
}

static uint64_t checksum(const uint8_t *p, size_t n)
{
	uint64_t sums[4] = {n, 1, 2, 3}, sum = 0;
	uint8_t rest[32] = {};

	for (; n >= sizeof(rest); n -= sizeof(rest), p += sizeof(rest))
		add_words(sums, p);
	memcpy(rest, p, n);
	add_words(sums, rest);
	for (int i = 0; i < 4; i++)
		sum = (sum ^ sums[i]) * 0xbf58476d1ce4e5b9;
	return sum;
}

static uint64_t size_of(const struct unwind_table *t)
{
	return HEADER + (uint64_t)t->n_segments * SEGMENT + (uint64_t)t->n_rules * RULE +
	       (uint64_t)t->pages * PAGE + t->size;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *p, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		*p++ = (uint8_t)(v >> (8 * i));
	return p;
}

void unwind_codec__seal(uint8_t *buf, size_t len)
{
	uint8_t *p = put(put(buf, MAGIC, 4), REVISION, 4);

	put(p, checksum(buf + CHECKED_FROM, len - CHECKED_FROM), 8);
}

int unwind_encode(const struct unwind_table *t, uint8_t **buf, size_t *len)
{
	const uint32_t numbers[] = {t->pages, t->n_rules,   t->n_segments, t->size,
				    t->rows,  t->functions, t->unreadable, t->refused};
	size_t size = size_of(t);
	uint8_t *bytes = calloc(1, size), *p = bytes + CHECKED_FROM;

	if (!bytes)
		return -ENOMEM;
	p = put(p, t->start, 8);
	for (size_t i = 0; i < N_OF(numbers); i++)
		p = put(p, numbers[i], 4);
	for (uint32_t i = 0; i < t->n_segments; i++) {
		p = put(p, t->segments[i].addr, 8);
		p = put(p, t->segments[i].offset, 8);
		p = put(p, t->segments[i].size, 8);
	}
	for (uint32_t i = 0; i < t->n_rules; i++) {
		const struct wire_unwind_rule *rule = &t->rules[i];

		p = put(p, (uint32_t)rule->cfa, 4);
		p = put(p, (uint16_t)rule->rbp, 2);
		p = put(p, rule->base, 1);
		p = put(p, rule->rbp_is, 1);
	}
	for (uint32_t i = 0; i < t->pages; i++)
		p = put(p, t->directory[i], PAGE);
	if (t->size)
		memcpy(p, t->tables, t->size);
	unwind_codec__seal(bytes, size);
	*buf = bytes;
	*len = size;
	return 0;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static bool read_header(struct dwarf_bytes *b, struct unwind_table *t)
{
	uint32_t *const numbers[] = {&t->pages, &t->n_rules,   &t->n_segments, &t->size,
				     &t->rows,	&t->functions, &t->unreadable, &t->refused};

	t->start = dwarf_bytes__number(b, 8);
	for (size_t i = 0; i < N_OF(numbers); i++)
		*numbers[i] = (uint32_t)dwarf_bytes__number(b, 4);
	return !b->bad && t->pages && t->pages <= WIRE_UNWIND_PAGES_MAX && t->n_rules &&
	       t->n_rules <= WIRE_UNWIND_RULES_MAX && t->n_segments <= UNWIND_SEGMENTS_MAX &&
	       t->size && t->size <= UNWIND_TABLE_BYTES_MAX &&
	       t->start % WIRE_UNWIND_PAGE_BYTES == 0;
}

/* Offsets must rise from 0 on, and no table may be longer than a block of the area. */
static bool read_directory(struct dwarf_bytes *b, struct unwind_table *t)
{
	uint32_t last = 0;
	bool first = true;

	for (uint32_t i = 0; i < t->pages; i++) {
		uint32_t at = (uint32_t)dwarf_bytes__number(b, PAGE);

		t->directory[i] = at;
		if (at == UNWIND_NO_TABLE)
			continue;
		if (first ? at : at <= last || at - last > WIRE_UNWIND_BLOCK_BYTES)
			return false;
		first = false;
		last = at;
	}
	return !first && t->size > last && t->size - last <= WIRE_UNWIND_BLOCK_BYTES;
}

static int read_items(struct dwarf_bytes *b, struct unwind_table *t)
{
	t->rules = calloc(t->n_rules, sizeof(*t->rules));
	t->directory = calloc(t->pages, sizeof(*t->directory));
	if (!t->rules || !t->directory)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_segments; i++) {
		t->segments[i].addr = dwarf_bytes__number(b, 8);
		t->segments[i].offset = dwarf_bytes__number(b, 8);
		t->segments[i].size = dwarf_bytes__number(b, 8);
	}
	for (uint32_t i = 0; i < t->n_rules; i++) {
		struct wire_unwind_rule *rule = &t->rules[i];

		rule->cfa = (int32_t)dwarf_bytes__number(b, 4);
		rule->rbp = (int16_t)dwarf_bytes__number(b, 2);
		rule->base = dwarf_bytes__u8(b);
		rule->rbp_is = dwarf_bytes__u8(b);
		if (rule->base >= WIRE_UNWIND_BASES || rule->rbp_is >= WIRE_UNWIND_RBP_WAYS)
			return -EBADMSG;
	}
	return t->rules[0].base == WIRE_UNWIND_NONE && read_directory(b, t) && !b->bad ? 0
										       : -EBADMSG;
}

bool unwind_is_current(const uint8_t *buf, size_t len)
{
	struct dwarf_bytes b = {buf, buf + len, false};

	return dwarf_bytes__number(&b, 4) == MAGIC && dwarf_bytes__number(&b, 4) == REVISION &&
	       !b.bad;
}

int unwind_decode(const uint8_t *buf, size_t len, struct unwind_table **out)
{
	_unwind_table_ struct unwind_table *t = calloc(1, sizeof(*t));
	struct dwarf_bytes b = {buf, buf + len, false};
	uint64_t sum;
	int err;

	if (!t)
		return -ENOMEM;
	dwarf_bytes__number(&b, 8); /* magic, revision */
	sum = dwarf_bytes__number(&b, 8);
	if (b.bad || !unwind_is_current(buf, len) || sum != checksum(b.at, dwarf_bytes__left(&b)))
		return -EBADMSG;
	if (!read_header(&b, t) || size_of(t) != len)
		return -EBADMSG;
	err = read_items(&b, t);
	t->tables = b.at;
	if (!err)
		*out = take_ptr(t);
	return err;
}
