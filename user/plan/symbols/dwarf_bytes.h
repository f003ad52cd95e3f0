/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Takes values from a range of bytes of DWARF, little endian. The first that is not there sets
 * `bad`, and from then on everything reads as 0: check once, before a value is used. As DWARF
 * allows it, LEB128 may be longer than it must be; bits above 64 are dropped.
 */
#ifndef QPROF_PLAN_SYMBOLS_DWARF_BYTES_H
#define QPROF_PLAN_SYMBOLS_DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

/* LEB128 of 64 bits takes 10 bytes; more than this are no number. */
#define DWARF_LEB_MAX 16

static inline size_t dwarf_bytes__left(const struct dwarf_bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* The next `n` bytes, or NULL. */
static inline const uint8_t *dwarf_bytes__take(struct dwarf_bytes *b, uint64_t n)
{
	const uint8_t *p = b->at;

	if (b->bad || n > dwarf_bytes__left(b)) {
		b->bad = true;
		b->at = b->end;
		return NULL;
	}
	b->at += n;
	return p;
}

/* A number of 1 to 8 bytes. */
static inline uint64_t dwarf_bytes__number(struct dwarf_bytes *b, unsigned int size)
{
	const uint8_t *p = dwarf_bytes__take(b, size);
	uint64_t v = 0;

	for (unsigned int i = 0; p && i < size; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* The same, its sign extended. */
static inline int64_t dwarf_bytes__signed(struct dwarf_bytes *b, unsigned int size)
{
	unsigned int unused = 64 - 8 * size;

	return (int64_t)(dwarf_bytes__number(b, size) << unused) >> unused;
}

static inline uint8_t dwarf_bytes__u8(struct dwarf_bytes *b)
{
	return (uint8_t)dwarf_bytes__number(b, 1);
}

/* The bits of a LEB128, and how many there are of them. */
static inline uint64_t dwarf_bytes__leb(struct dwarf_bytes *b, unsigned int *bits)
{
	uint64_t v = 0;
	uint8_t byte = 0x80;

	for (*bits = 0; byte & 0x80 && *bits < 7 * DWARF_LEB_MAX; *bits += 7) {
		byte = dwarf_bytes__u8(b);
		if (*bits < 64)
			v |= (uint64_t)(byte & 0x7f) << *bits;
	}
	if (byte & 0x80)
		b->bad = true;
	return b->bad ? 0 : v;
}

static inline uint64_t dwarf_bytes__uleb(struct dwarf_bytes *b)
{
	unsigned int bits;

	return dwarf_bytes__leb(b, &bits);
}

static inline int64_t dwarf_bytes__sleb(struct dwarf_bytes *b)
{
	unsigned int bits;
	uint64_t v = dwarf_bytes__leb(b, &bits);

	if (bits < 64 && v >> (bits - 1))
		v |= UINT64_MAX << bits;
	return (int64_t)v;
}

#endif /* QPROF_PLAN_SYMBOLS_DWARF_BYTES_H */
