// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/index_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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

/* ---- What a batch holds ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Count beyond the room: a count that is too great means that the list is not complete. */
static void add_label(struct batch_summer *s, uint32_t label)
{
	struct batch_summary *sum = &s->summary;

	if (label >= s->n_seen_in) { /* virtual: its name is not known yet */
		sum->n_labels = QPT_INDEX_LABELS + 1;
		return;
	}
	if (s->seen_in[label] == s->batch)
		return;
	s->seen_in[label] = s->batch;
	if (sum->n_labels < QPT_INDEX_LABELS)
		sum->labels[sum->n_labels] = label;
	if (sum->n_labels <= QPT_INDEX_LABELS)
		sum->n_labels++;
}

static void add_process(struct batch_summary *sum, uint32_t process)
{
	if (sum->n_processes > QPT_INDEX_PROCESSES)
		return;
	for (uint32_t i = 0; i < sum->n_processes; i++)
		if (sum->processes[i] == process)
			return;
	if (sum->n_processes < QPT_INDEX_PROCESSES)
		sum->processes[sum->n_processes] = process;
	sum->n_processes++;
}

int batch_summer__sum(struct batch_summer *s, const struct trace_span *spans, uint32_t n,
		      uint32_t n_strings)
{
	struct batch_summary *sum = &s->summary;

	if (n_strings &&
	    array__reserve_at(&s->seen_in, n_strings - 1, &s->n_seen_in, sizeof(*s->seen_in)))
		return -ENOMEM;
	if (!++s->batch) { /* the numbers have come round */
		memset(s->seen_in, 0, s->n_seen_in * sizeof(*s->seen_in));
		s->batch = 1;
	}
	sum->n = n;
	sum->n_processes = sum->n_labels = 0;
	sum->start_ns = UINT64_MAX;
	sum->end_ns = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (spans[i].start_ns < sum->start_ns)
			sum->start_ns = spans[i].start_ns;
		if (spans[i].end_ns > sum->end_ns)
			sum->end_ns = spans[i].end_ns;
		add_label(s, spans[i].label);
		if (!i || spans[i].process != spans[i - 1].process)
			add_process(sum, spans[i].process);
	}
	/* An empty list stands for everything. */
	if (sum->n_processes > QPT_INDEX_PROCESSES)
		sum->n_processes = 0;
	if (sum->n_labels > QPT_INDEX_LABELS)
		sum->n_labels = 0;
	qsort(sum->processes, sum->n_processes, sizeof(*sum->processes), compare);
	qsort(sum->labels, sum->n_labels, sizeof(*sum->labels), compare);
	return 0;
}

/* Whether an ascending list holds all of another. An empty list stands for everything. */
static bool list_covers(const uint32_t *list, uint32_t n_list, const uint32_t *actual, uint32_t n)
{
	uint32_t at = 0;

	if (!n_list)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		while (at < n_list && list[at] < actual[i])
			at++;
		if (at == n_list || list[at] != actual[i])
			return false;
	}
	return n;
}

bool batch_summary__covers(const struct batch_summary *indexed, const struct batch_summary *actual)
{
	return indexed->n == actual->n && indexed->start_ns <= actual->start_ns &&
	       indexed->end_ns >= actual->end_ns &&
	       list_covers(indexed->processes, indexed->n_processes, actual->processes,
			   actual->n_processes) &&
	       list_covers(indexed->labels, indexed->n_labels, actual->labels, actual->n_labels);
}

void batch_summer__destroy(struct batch_summer *s)
{
	free(s->seen_in);
	*s = (struct batch_summer){0};
}
