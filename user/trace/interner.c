// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/interner.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "qprof/trace_format.h"
#include "trace/trace.h"

/*
 * The key of a text is the text. That of a composed string is a NUL, which no text holds, the
 * number of its pieces, and the pieces: as they are stored, but with ids in place of distances.
 */
struct interned {
	uint8_t *key;
	uint32_t size;	 /* of the key */
	uint32_t length; /* of the text */
	uint32_t older;	 /* with the same hash, or U64_MAP_NONE */
	uint8_t depth;
};

/* The string with this key; `new` holds what else it is if it must be made. */
static int find_or_add(struct interner *t, const uint8_t *key, struct interned new, uint32_t *id,
		       bool *is_new)
{
	uint64_t hash = map_hash(key, new.size);
	uint32_t newest = u64_map__get(&t->newest, hash), i = newest;
	/* Bytes that it takes in the file at most: a distance may be longer than its id. */
	uint64_t stored = (new.depth ? 4ULL * new.size : new.size) + BYTES_VARINT_MAX;

	while (i != U64_MAP_NONE &&
	       (t->strings[i].size != new.size || memcmp(t->strings[i].key, key, new.size)))
		i = t->strings[i].older;
	*is_new = false;
	if (i != U64_MAP_NONE) {
		*id = i;
		return 0;
	}
	/* It must fit a chunk, behind others. */
	if (new.length > QPT_TEXT_MAX || stored > QPT_PAYLOAD_MAX / 2 ||
	    stored > QPT_STRING_BYTES_MAX - t->bytes || t->n == QPT_STRINGS_MAX)
		return -E2BIG;
	if (array__reserve_one(&t->strings, t->n, &t->capacity, sizeof(*t->strings)))
		return -ENOMEM;
	new.older = newest;
	new.key = malloc(new.size + 1UL);
	if (!new.key || u64_map__put(&t->newest, hash, t->n)) {
		free(new.key);
		return -ENOMEM;
	}
	memcpy(new.key, key, new.size);
	t->bytes += stored;
	*is_new = true;
	*id = t->n;
	t->strings[t->n++] = new;
	return 0;
}

int interner__id(struct interner *t, const char *text, uint32_t *id, bool *is_new)
{
	size_t size = strlen(text);

	if (size > QPT_TEXT_MAX)
		return -E2BIG;
	return find_or_add(t, (const uint8_t *)text,
			   (struct interned){.size = size, .length = size}, id, is_new);
}

static size_t piece_length(const struct interner *t, const struct trace_piece *p)
{
	return p->text ? strlen(p->text) : t->strings[p->id].length;
}

/* Check and count the pieces that are not empty; *last is one of them. */
static int count_pieces(const struct interner *t, const struct trace_piece *pieces, uint32_t n,
			uint32_t *used, const struct trace_piece **last, struct interned *new)
{
	uint64_t length = 0;

	*used = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_piece *p = &pieces[i];

		if (!p->text && p->id >= t->n)
			return -EINVAL;
		if (!piece_length(t, p))
			continue;
		length += piece_length(t, p);
		if (length > QPT_TEXT_MAX)
			return -E2BIG;
		if (!p->text && t->strings[p->id].depth == QPT_STRING_DEPTH_MAX)
			return -E2BIG;
		if (!p->text && new->depth <= t->strings[p->id].depth)
			new->depth = t->strings[p->id].depth + 1;
		*last = p;
		++*used;
	}
	new->length = length;
	return 0;
}

int interner__compose(struct interner *t, const struct trace_piece *pieces, uint32_t n,
		      uint32_t *id, bool *is_new)
{
	const struct trace_piece *last = NULL;
	struct interned new = {0};
	uint32_t used;
	int err = count_pieces(t, pieces, n, &used, &last, &new);

	*is_new = false;
	if (err)
		return err;
	if (used < 2) {
		if (!last || last->text)
			return interner__id(t, last ? last->text : "", id, is_new);
		*id = last->id;
		return 0;
	}
	byte_buffer__clear(&t->key);
	byte_buffer__bytes(&t->key, "", 1);
	byte_buffer__varint(&t->key, used);
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_piece *p = &pieces[i];
		uint64_t length = piece_length(t, p);

		if (length && p->text) {
			byte_buffer__varint(&t->key, length << 1 | QPT_PIECE_TEXT);
			byte_buffer__bytes(&t->key, p->text, length);
		} else if (length) {
			byte_buffer__varint(&t->key, (uint64_t)p->id << 1 | QPT_PIECE_STRING);
		}
	}
	if (t->key.failed)
		return -ENOMEM;
	new.size = t->key.size;
	return find_or_add(t, t->key.data, new, id, is_new);
}

void interner__store(const struct interner *t, uint32_t id, struct byte_buffer *out)
{
	const struct interned *s = &t->strings[id];
	struct byte_reader key = {s->key, s->key + s->size, false};
	uint64_t n;

	if (!s->size || *s->key) {
		byte_buffer__varint(out, (uint64_t)s->size << 1 | QPT_STRING_TEXT);
		byte_buffer__bytes(out, s->key, s->size);
		return;
	}
	byte_reader__bytes(&key, 1);
	n = byte_reader__varint(&key);
	byte_buffer__varint(out, n << 1 | QPT_STRING_PIECES);
	for (; n; n--) {
		uint64_t head = byte_reader__varint(&key);

		if (head & QPT_PIECE_STRING) {
			byte_buffer__varint(out, (id - (head >> 1)) << 1 | QPT_PIECE_STRING);
			continue;
		}
		byte_buffer__varint(out, head);
		byte_buffer__bytes(out, byte_reader__bytes(&key, head >> 1), head >> 1);
	}
}

/* Strings are QPT_STRING_DEPTH_MAX deep at most. */
void interner__text(const struct interner *t, uint32_t id, struct byte_buffer *out)
{
	const struct interned *s = &t->strings[id];
	struct byte_reader key = {s->key, s->key + s->size, false};

	if (!s->size || *s->key) {
		byte_buffer__bytes(out, s->key, s->size);
		return;
	}
	byte_reader__bytes(&key, 1);
	for (uint64_t n = byte_reader__varint(&key); n; n--) {
		uint64_t head = byte_reader__varint(&key);

		if (head & QPT_PIECE_STRING)
			interner__text(t, (uint32_t)(head >> 1), out);
		else
			byte_buffer__bytes(out, byte_reader__bytes(&key, head >> 1), head >> 1);
	}
}

void interner__destroy(struct interner *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->strings[i].key);
	free(t->strings);
	u64_map__destroy(&t->newest);
	byte_buffer__destroy(&t->key);
	*t = (struct interner){0};
}

/* ---- Pairs of strings ------------------------------------------------------------------------ */

/* All of a malformed list is refused. */
static bool is_sound(struct byte_reader in, uint64_t n, uint32_t n_strings)
{
	for (uint64_t i = 0; i < 2 * n && !in.bad; i++)
		byte_reader__varint_max(&in, n_strings - 1);
	return !in.bad && in.at == in.end;
}

int string_pairs__take(struct string_pairs *p, struct byte_reader *in, uint32_t n_strings)
{
	/* There may be more pairs than strings: several libraries may say the same. */
	uint64_t n = byte_reader__varint_max(in, (uint64_t)(in->end - in->at) / 2);

	if (!n || !n_strings || !is_sound(*in, n, n_strings))
		return -EBADMSG;
	if (array__reserve_at(&p->second_of, n_strings - 1, &p->n, sizeof(*p->second_of)))
		return -ENOMEM;
	for (; n; n--) {
		uint32_t first = byte_reader__varint_max(in, n_strings - 1);

		p->second_of[first] = byte_reader__varint_max(in, n_strings - 1) + 1;
	}
	return 0;
}

uint32_t string_pairs__get(const struct string_pairs *p, uint32_t first)
{
	return first < p->n && p->second_of[first] ? p->second_of[first] - 1 : TRACE_NO_STRING;
}

void string_pairs__destroy(struct string_pairs *p)
{
	free(p->second_of);
	*p = (struct string_pairs){0};
}
