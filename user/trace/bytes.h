/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bytes of a file, in and out. All numbers are little endian; a varint is unsigned LEB128 in its
 * shortest form; zigzag folds the sign of a difference into bit 0.
 */
#ifndef QPROF_TRACE_BYTES_H
#define QPROF_TRACE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_VARINT_MAX 10

static inline uint16_t bytes_load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bytes_load_u32(const uint8_t *p)
{
	return bytes_load_u16(p) | (uint32_t)bytes_load_u16(p + 2) << 16;
}

static inline uint64_t bytes_load_u64(const uint8_t *p)
{
	return bytes_load_u32(p) | (uint64_t)bytes_load_u32(p + 4) << 32;
}

static inline void bytes_store_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void bytes_store_u32(uint8_t *p, uint32_t v)
{
	bytes_store_u16(p, (uint16_t)v);
	bytes_store_u16(p + 2, (uint16_t)(v >> 16));
}

static inline void bytes_store_u64(uint8_t *p, uint64_t v)
{
	bytes_store_u32(p, (uint32_t)v);
	bytes_store_u32(p + 4, (uint32_t)(v >> 32));
}

/* Differences are taken modulo 2^64, so every pair of values has one and gets it back. */
static inline uint64_t bytes_zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t bytes_unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

/* Store a varint at `p`, where BYTES_VARINT_MAX bytes are free; returns the byte after it. */
static inline uint8_t *bytes_store_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/*
 * Takes values from a range of bytes. The first that is not there or malformed sets `bad`, and
 * from then on everything reads as 0: check once, after the last value, before using any.
 */
struct byte_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

/* LEB128, at most ten bytes; use byte_reader__varint(). */
uint64_t byte_reader__long_varint(struct byte_reader *r);

static inline uint64_t byte_reader__varint(struct byte_reader *r)
{
	const uint8_t *p = r->at;

	/* Most take one byte or two. A second byte of 0 would be malformed. */
	if (r->end - p < 2)
		return byte_reader__long_varint(r);
	if (p[0] < 0x80) {
		r->at = p + 1;
		return p[0];
	}
	if (p[1] - 1u < 0x7f) {
		r->at = p + 2;
		return (p[0] & 0x7fu) | (uint32_t)p[1] << 7;
	}
	return byte_reader__long_varint(r);
}

/* The next `n` of them, as by byte_reader__varint(), but faster. */
void byte_reader__varints(struct byte_reader *r, uint64_t *to, size_t n);

/* The value was not as it must be: what follows reads as 0. Returns 0. */
uint64_t byte_reader__malformed(struct byte_reader *r);

/* A varint that is at most `max`; a greater one is malformed. */
static inline uint64_t byte_reader__varint_max(struct byte_reader *r, uint64_t max)
{
	uint64_t v = byte_reader__varint(r);

	return v <= max ? v : byte_reader__malformed(r);
}

/* The next `size` bytes, or NULL. */
const uint8_t *byte_reader__bytes(struct byte_reader *r, size_t size);

/* Collects bytes. A failed allocation is remembered in `failed`; check it once, at the end. */
struct byte_buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed;
};

/* Room for `size` more bytes at data + size, or false. */
bool byte_buffer__reserve(struct byte_buffer *b, size_t size);
void byte_buffer__varint(struct byte_buffer *b, uint64_t v);
void byte_buffer__bytes(struct byte_buffer *b, const void *data, size_t size);
/* Forget the content, keep the memory. */
void byte_buffer__clear(struct byte_buffer *b);
void byte_buffer__destroy(struct byte_buffer *b);

#endif /* QPROF_TRACE_BYTES_H */
