// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/bytes.h"

#include <stdlib.h>
#include <string.h>

uint64_t byte_reader__malformed(struct byte_reader *r)
{
	r->bad = true;
	r->at = r->end;
	return 0;
}

uint64_t byte_reader__long_varint(struct byte_reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 7 * BYTES_VARINT_MAX; shift += 7) {
		uint8_t byte;

		if (r->at == r->end)
			return byte_reader__malformed(r);
		byte = *r->at++;
		/* The tenth byte holds bit 63 only. */
		if (shift == 63 && byte > 1)
			return byte_reader__malformed(r);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (!byte && shift)
			return byte_reader__malformed(r);
		return value;
	}
	return byte_reader__malformed(r);
}

/* Take `n` varints that may be of several bytes; one of two or less is taken without a jump. */
static void take_mixed(struct byte_reader *r, uint64_t *to, size_t n)
{
	const uint8_t *p = r->at;

	for (size_t i = 0; i < n; i++) {
		unsigned int more;

		if (r->end - p < 2 || (p[0] & 0x80 && p[1] - 1u >= 0x7f)) {
			r->at = p;
			to[i] = byte_reader__long_varint(r);
			p = r->at;
			continue;
		}
		more = p[0] >> 7;
		to[i] = (p[0] & 0x7f) | (p[1] & -more) << 7;
		p += 1 + more;
	}
	r->at = p;
}

void byte_reader__varints(struct byte_reader *r, uint64_t *to, size_t n)
{
	while (n >= 8) {
		if (r->end - r->at >= 8 && !(bytes_load_u64(r->at) & 0x8080808080808080u)) {
			for (int i = 0; i < 8; i++)
				to[i] = r->at[i];
			r->at += 8;
		} else {
			take_mixed(r, to, 8);
		}
		to += 8;
		n -= 8;
	}
	take_mixed(r, to, n);
}

const uint8_t *byte_reader__bytes(struct byte_reader *r, size_t size)
{
	const uint8_t *p = r->at;

	if (size > (size_t)(r->end - r->at)) {
		byte_reader__malformed(r);
		return NULL;
	}
	r->at += size;
	return p;
}

bool byte_buffer__reserve(struct byte_buffer *b, size_t size)
{
	size_t capacity = b->capacity ? b->capacity : 256;
	uint8_t *data;

	if (b->failed)
		return false;
	if (size <= b->capacity - b->size)
		return true;
	while (capacity - b->size < size)
		capacity *= 2;
	data = realloc(b->data, capacity);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->capacity = capacity;
	return true;
}

void byte_buffer__varint(struct byte_buffer *b, uint64_t v)
{
	if (byte_buffer__reserve(b, BYTES_VARINT_MAX))
		b->size = bytes_store_varint(b->data + b->size, v) - b->data;
}

void byte_buffer__bytes(struct byte_buffer *b, const void *data, size_t size)
{
	if (!size || !byte_buffer__reserve(b, size))
		return;
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void byte_buffer__clear(struct byte_buffer *b)
{
	b->size = 0;
	b->failed = false;
}

void byte_buffer__destroy(struct byte_buffer *b)
{
	free(b->data);
	*b = (struct byte_buffer){0};
}
