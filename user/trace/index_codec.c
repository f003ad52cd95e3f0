// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/index_codec.h"

/* A set as its first number and the distances from each to the next. */
static void store_set(struct byte_buffer *out, const uint32_t *set, uint32_t n)
{
	byte_buffer__varint(out, n);
	for (uint32_t i = 0; i < n; i++)
		byte_buffer__varint(out, set[i] - (i ? set[i - 1] : 0));
}

void index_builder__add(struct index_builder *b, uint8_t type, uint32_t stored,
			const struct batch_summary *spans)
{
	struct byte_buffer *out = &b->entries;

	b->n++;
	byte_buffer__varint(out, type);
	byte_buffer__varint(out, stored);
	if (type != QPT_SPANS)
		return;
	byte_buffer__varint(out, spans->n);
	byte_buffer__varint(out, bytes_zigzag(spans->start_ns - b->last_start_ns));
	byte_buffer__varint(out, spans->end_ns - spans->start_ns);
	store_set(out, spans->processes, spans->n_processes);
	store_set(out, spans->labels, spans->n_labels);
	b->last_start_ns = spans->start_ns;
}

void index_builder__payload(const struct index_builder *b, struct byte_buffer *out)
{
	byte_buffer__varint(out, b->previous);
	byte_buffer__varint(out, b->first);
	byte_buffer__varint(out, b->n);
	byte_buffer__bytes(out, b->entries.data, b->entries.size);
	out->failed |= b->entries.failed;
}

void index_builder__next(struct index_builder *b, uint64_t offset, uint64_t end)
{
	byte_buffer__clear(&b->entries);
	b->n = 0;
	b->previous = offset;
	b->first = end;
	b->last_start_ns = 0;
}

struct index_cursor index_cursor__begin(struct byte_reader payload)
{
	struct index_cursor c = {.in = payload};

	c.previous = byte_reader__varint(&c.in);
	c.offset = byte_reader__varint(&c.in);
	c.left = byte_reader__varint_max(&c.in, QPT_PAYLOAD_MAX);
	if (c.in.bad)
		c.left = 0;
	return c;
}

static uint32_t load_set(struct byte_reader *in, uint32_t *set, uint32_t most)
{
	uint32_t n = byte_reader__varint_max(in, most);
	uint64_t value = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t distance = byte_reader__varint_max(in, UINT32_MAX);

		value += distance;
		if ((i && !distance) || value > UINT32_MAX)
			in->bad = true;
		set[i] = value;
	}
	return n;
}

bool index_cursor__next(struct index_cursor *c, struct index_entry *entry)
{
	struct byte_reader *in = &c->in;
	struct batch_summary *spans = &entry->spans;

	if (!c->left)
		return false;
	entry->offset = c->offset;
	entry->type = byte_reader__varint_max(in, UINT8_MAX);
	entry->stored = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	spans->n = 0;
	if (entry->type == QPT_SPANS) {
		spans->n = byte_reader__varint_max(in, QPT_SPANS_MAX);
		c->last_start_ns += bytes_unzigzag(byte_reader__varint(in));
		spans->start_ns = c->last_start_ns;
		spans->end_ns = spans->start_ns + byte_reader__varint(in);
		spans->n_processes = load_set(in, spans->processes, QPT_INDEX_PROCESSES);
		spans->n_labels = load_set(in, spans->labels, QPT_INDEX_LABELS);
		if (!spans->n || spans->end_ns < spans->start_ns)
			in->bad = true;
	}
	if (--c->left == 0 && in->at != in->end)
		in->bad = true;
	if (in->bad) {
		c->left = 0;
		return false;
	}
	c->offset += QPT_CHUNK_HEADER_SIZE + (uint64_t)entry->stored;
	return true;
}
