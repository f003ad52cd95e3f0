// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/protobuf.h"

#include <errno.h>
#include <string.h>

#include "base/format.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_64_BITS = 1,
	WIRE_BYTES = 2,
};

#define REPLACEMENT "\xef\xbf\xbd"

static void put_tag(struct byte_buffer *b, unsigned int field, enum wire_type type)
{
	byte_buffer__varint(b, (uint64_t)field << 3 | type);
}

void protobuf__varint(struct byte_buffer *b, unsigned int field, uint64_t value)
{
	put_tag(b, field, WIRE_VARINT);
	byte_buffer__varint(b, value);
}

void protobuf__double(struct byte_buffer *b, unsigned int field, double value)
{
	uint8_t stored[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bytes_store_u64(stored, bits);
	put_tag(b, field, WIRE_64_BITS);
	byte_buffer__bytes(b, stored, sizeof(stored));
}

/* The size of `text` after conversion to valid UTF-8, bytes. */
static size_t valid_size(const char *text)
{
	size_t size = 0;
	uint32_t cp;

	while (*text) {
		size_t len = format_utf8(text, &cp);

		size += len ?: strlen(REPLACEMENT);
		text += len ?: 1;
	}
	return size;
}

void protobuf__text(struct byte_buffer *b, unsigned int field, const char *text)
{
	uint32_t cp;

	put_tag(b, field, WIRE_BYTES);
	byte_buffer__varint(b, valid_size(text));
	while (*text) {
		size_t len = format_utf8(text, &cp);

		if (len)
			byte_buffer__bytes(b, text, len);
		else
			byte_buffer__bytes(b, REPLACEMENT, strlen(REPLACEMENT));
		text += len ?: 1;
	}
}

void protobuf__message(struct byte_buffer *b, unsigned int field, const struct byte_buffer *message)
{
	put_tag(b, field, WIRE_BYTES);
	byte_buffer__varint(b, message->size);
	byte_buffer__bytes(b, message->data, message->size);
	b->failed |= message->failed;
}

int protobuf__put(struct out *out, unsigned int field, struct byte_buffer *message)
{
	uint8_t head[2 * BYTES_VARINT_MAX], *end;

	if (message->failed)
		return -ENOMEM;
	end = bytes_store_varint(head, field << 3 | WIRE_BYTES);
	end = bytes_store_varint(end, message->size);
	out__bytes(out, head, end - head);
	out__bytes(out, message->data, message->size);
	byte_buffer__clear(message);
	return out__error(out);
}
