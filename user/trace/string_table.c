// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/string_table.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "qprof/trace_format.h"

struct string {
	char *text;	 /* put together, or NULL */
	uint32_t at;	 /* where it begins in `stored` */
	uint32_t length; /* of its text */
	uint8_t depth;	 /* of strings in it */
	bool foreign;	 /* the name of another crate */
};

struct string_table {
	struct string *strings;
	uint32_t n;
	uint32_t capacity;
	struct byte_buffer stored; /* all strings, as in the file */
	size_t text_bytes;	   /* of the texts that were put together and kept */
	struct byte_buffer passing;
	struct expansion *expansion;
};

_Static_assert(QPT_STRING_DEPTH_MAX <= UINT8_MAX, "a depth is a byte");
_Static_assert(QPT_STRING_BYTES_MAX <= UINT32_MAX, "a place among the strings is a u32");

int string_table__new(struct expansion *expansion, struct string_table **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->expansion = expansion;
	return 0;
}

uint32_t string_table__n(const struct string_table *t)
{
	return t->n;
}

static void take_text(struct byte_reader *in, uint64_t size, struct string *s)
{
	const uint8_t *bytes = byte_reader__bytes(in, size);

	if (in->bad || memchr(bytes, 0, size) || size > QPT_TEXT_MAX - s->length)
		in->bad = true;
	else
		s->length += size;
}

static void take_reference(const struct string_table *t, struct byte_reader *in, uint64_t distance,
			   struct string *s)
{
	const struct string *earlier;

	if (!distance || distance > t->n) {
		in->bad = true;
		return;
	}
	earlier = &t->strings[t->n - distance];
	if (!earlier->length || earlier->length > QPT_TEXT_MAX - s->length ||
	    earlier->depth == QPT_STRING_DEPTH_MAX) {
		in->bad = true;
		return;
	}
	s->length += earlier->length;
	if (s->depth <= earlier->depth)
		s->depth = earlier->depth + 1;
}

/*
 * No piece is empty and no string is a single piece: so the time to put a text together grows with
 * its length, whatever the file says.
 */
static void take_pieces(const struct string_table *t, struct byte_reader *in, uint64_t n,
			struct string *s)
{
	if (n < 2)
		in->bad = true;
	for (; n && !in->bad; n--) {
		uint64_t head = byte_reader__varint(in);

		if (head >> 1 == 0)
			in->bad = true;
		else if (head & QPT_PIECE_STRING)
			take_reference(t, in, head >> 1, s);
		else
			take_text(in, head >> 1, s);
	}
}

static int take_string(struct string_table *t, struct byte_reader *in, const char **why)
{
	const uint8_t *begin = in->at;
	struct string s = {.at = t->stored.size};
	uint64_t head = byte_reader__varint(in);

	if (head & QPT_STRING_PIECES)
		take_pieces(t, in, head >> 1, &s);
	else
		take_text(in, head >> 1, &s);
	*why = "a name is malformed";
	if (in->bad)
		return -EBADMSG;
	*why = "its names are too long";
	if ((size_t)(in->at - begin) > QPT_STRING_BYTES_MAX - t->stored.size)
		return -EBADMSG;
	byte_buffer__bytes(&t->stored, begin, in->at - begin);
	if (t->stored.failed)
		return -ENOMEM;
	return array__add(&t->strings, &t->n, &t->capacity, &s);
}

int string_table__take(struct string_table *t, struct byte_reader *in, uint32_t *first, uint32_t *n,
		       const char **why)
{
	int err = 0;

	*first = byte_reader__varint_max(in, QPT_STRINGS_MAX);
	*n = byte_reader__varint_max(in, QPT_STRINGS_MAX - *first);
	*why = "names are missing";
	if (in->bad || *first > t->n)
		return -EBADMSG;
	if (*n <= t->n - *first) {
		in->at = in->end;
		return 0;
	}
	if (*first < t->n)
		return -EBADMSG;
	for (uint32_t i = 0; i < *n && !err; i++)
		err = take_string(t, in, why);
	if (!err && in->at != in->end) {
		*why = "a name is malformed";
		err = -EBADMSG;
	}
	if (err && t->n > *first) {
		t->stored.size = t->strings[*first].at;
		t->n = *first;
	}
	return err;
}

static char *put_together(const struct string_table *t, uint32_t id, char *to)
{
	const uint8_t *stored = t->stored.data;
	struct byte_reader in = {stored + t->strings[id].at, stored + t->stored.size, false};
	uint64_t head = byte_reader__varint(&in);
	uint64_t n = head >> 1;

	if (!(head & QPT_STRING_PIECES))
		return mempcpy(to, in.at, n);
	for (; n; n--) {
		head = byte_reader__varint(&in);
		if (head & QPT_PIECE_STRING)
			to = put_together(t, id - (head >> 1), to);
		else
			to = mempcpy(to, byte_reader__bytes(&in, head >> 1), head >> 1);
	}
	return to;
}

int string_table__text(struct string_table *t, uint32_t id, const char **text)
{
	struct string *s;
	char *new;

	if (id >= t->n)
		return -ENOENT;
	s = &t->strings[id];
	if (!s->text) {
		if (!expansion__keep(t->expansion, &t->text_bytes, s->length, QPT_NAME_BYTES_MAX))
			return -E2BIG;
		new = malloc(s->length + 1UL);
		if (!new)
			return -ENOMEM;
		*put_together(t, id, new) = '\0';
		s->text = new;
	}
	*text = s->text;
	return 0;
}

void string_table__mark_foreign(struct string_table *t, uint32_t id)
{
	t->strings[id].foreign = true;
}

/* The string that another one begins with, or the same if it begins with a text, which is set. */
static uint32_t first_of(const struct string_table *t, uint32_t id, const char **text, size_t *size)
{
	const uint8_t *stored = t->stored.data;
	struct byte_reader in = {stored + t->strings[id].at, stored + t->stored.size, false};
	uint64_t head = byte_reader__varint(&in);

	if (head & QPT_STRING_PIECES) {
		head = byte_reader__varint(&in);
		if (head & QPT_PIECE_STRING)
			return id - (uint32_t)(head >> 1);
	}
	*text = (const char *)in.at;
	*size = head >> 1;
	return id;
}

/* rustc prints some types of keys by their numbers, and 0 is that of the crate. */
static bool is_own_number(const char *text, size_t size)
{
	static const char *const starts[] = {"DefId(0:", "LocalModDefId(DefId(0:"};

	for (size_t i = 0; i < N_OF(starts); i++)
		if (size >= strlen(starts[i]) && !memcmp(text, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* A path's first text is the crate's name, or goes on behind it. */
static bool is_of_crate(const char *text, size_t size, const char *crate)
{
	size_t name = strlen(crate);

	if (size < name || memcmp(text, crate, name) != 0)
		return is_own_number(text, size);
	return size == name || (size >= name + 2 && !memcmp(text + name, "::", 2));
}

bool string_table__is_foreign(const struct string_table *t, uint32_t id, const char *crate)
{
	uint32_t next = id;
	const char *text = "";
	size_t size = 0;

	if (id >= t->n)
		return false;
	do {
		id = next;
		if (t->strings[id].foreign)
			return true;
		next = first_of(t, id, &text, &size);
	} while (next != id);
	return crate && t->strings[id].length && !is_of_crate(text, size, crate);
}

uint32_t string_table__length(const struct string_table *t, uint32_t id)
{
	return t->strings[id].length;
}

const char *string_table__passing_text(struct string_table *t, uint32_t id)
{
	char *text;

	if (id >= t->n)
		return NULL;
	if (t->strings[id].text)
		return t->strings[id].text;
	if (!expansion__repeat(t->expansion, t->strings[id].length))
		return NULL;
	byte_buffer__clear(&t->passing);
	if (!byte_buffer__reserve(&t->passing, t->strings[id].length + 1UL))
		return NULL;
	text = (char *)t->passing.data;
	*put_together(t, id, text) = '\0';
	return text;
}

void string_table__free(struct string_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		free(t->strings[i].text);
	free(t->strings);
	byte_buffer__destroy(&t->stored);
	byte_buffer__destroy(&t->passing);
	free(t);
}
