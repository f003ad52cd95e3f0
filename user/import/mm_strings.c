// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qprof/trace_format.h"

#define NESTED_MAX 64
#define STEPS_MAX  65536 /* components of one string, which each level of references may double */

static uint64_t load_id(const struct mm_strings *s, const uint8_t *p)
{
	return s->id_size == 8 ? bytes_load_u64(p) : bytes_load_u32(p);
}

static int add_entries(struct mm_strings *s, const uint8_t *p, size_t size)
{
	for (const uint8_t *end = p + size; p < end; p += 2 * s->id_size) {
		uint64_t id = load_id(s, p), address = load_id(s, p + s->id_size);

		if (id > MM_METADATA_ID || address >= MM_NO_ADDRESS)
			continue;
		if (id_table__put(&s->index, (uint32_t)id, (uint32_t)address))
			return -ENOMEM;
		if (id <= MM_VIRTUAL_ID_MAX && id >= s->virtual_end)
			s->virtual_end = (uint32_t)id + 1;
	}
	return 0;
}

static int load_index(struct mm_strings *s, struct mm_file *f)
{
	const struct mm_stream *stream = &f->streams[MM_STRING_INDEX];
	uint8_t block[4096];
	uint64_t at = MM_HEADER_SIZE;

	while (at < stream->size) {
		uint64_t left = stream->size - at;
		size_t n = left < sizeof(block) ? left : sizeof(block);
		int err;

		n -= n % (2 * s->id_size);
		if (!n) {
			mm_file__problem(f, "cut short: its string index ends inside an entry");
			break;
		}
		err = mm_file__read(f, MM_STRING_INDEX, at, block, n) ?: add_entries(s, block, n);
		if (err)
			return err;
		at += n;
	}
	return 0;
}

int mm_strings__load(struct mm_strings *s, struct mm_file *f)
{
	uint64_t size = f->streams[MM_STRING_DATA].size;
	int err;

	*s = (struct mm_strings){.id_size = f->version == MM_VERSION ? 8 : 4};
	if (size >= MM_NO_ADDRESS)
		return -EFBIG;
	s->data = malloc(size + 1);
	if (!s->data)
		return -ENOMEM;
	err = mm_file__read(f, MM_STRING_DATA, 0, s->data, size);
	if (err)
		return err;
	s->size = (uint32_t)size;
	return load_index(s, f);
}

uint32_t mm_strings__address(const struct mm_strings *s, uint64_t id)
{
	uint64_t address = MM_NO_ADDRESS;

	if (id <= MM_METADATA_ID)
		address = id_table__get(&s->index, (uint32_t)id);
	else if (id >= MM_FIRST_REGULAR_ID)
		address = id - MM_FIRST_REGULAR_ID;
	return address < s->size ? (uint32_t)address : MM_NO_ADDRESS;
}

bool mm_strings__component(const struct mm_strings *s, uint32_t *address, struct mm_component *c,
			   bool *bad)
{
	uint32_t from = *address, to = from;

	*bad = false;
	if (from < s->size && s->data[from] == MM_STRING_END)
		return false;
	if (from < s->size && s->data[from] == MM_STRING_REF && s->size - from > s->id_size) {
		*c = (struct mm_component){.id = load_id(s, s->data + from + 1)};
		*address += 1 + s->id_size;
		return true;
	}
	while (to < s->size && s->data[to] < MM_STRING_REF)
		to++;
	*bad = to == s->size || to == from;
	*c = (struct mm_component){.text = s->data + from, .size = to - from};
	*address = to;
	return !*bad;
}

/* The state of an expansion: positions in the string and in the strings that refer to it. */
struct expansion {
	const struct mm_strings *s;
	struct byte_buffer *out;
	bool label; /* stop at a separator */
	bool done;
	uint32_t at[NESTED_MAX];
	unsigned int n;
};

static void append(struct expansion *x, const void *text, size_t size)
{
	size_t room = QPT_TEXT_MAX - x->out->size;
	const void *separator = x->label ? memchr(text, MM_SEPARATOR, size) : NULL;

	if (separator) {
		size = (const char *)separator - (const char *)text;
		x->done = true;
	}
	if (size >= room) {
		size = room;
		x->done = true;
	}
	byte_buffer__bytes(x->out, text, size);
}

static void append_text(struct expansion *x, const char *text)
{
	append(x, text, strlen(text));
}

static void enter(struct expansion *x, uint64_t id)
{
	uint32_t address = mm_strings__address(x->s, id);

	if (address == MM_NO_ADDRESS)
		append_text(x, "<unknown>");
	else if (x->n == NESTED_MAX)
		append_text(x, "<invalid>");
	else
		x->at[x->n++] = address;
}

/* Take one component of the innermost string. */
static void step(struct expansion *x)
{
	struct mm_component c;
	bool bad;

	if (!mm_strings__component(x->s, &x->at[x->n - 1], &c, &bad)) {
		x->n--;
		if (bad)
			append_text(x, "<invalid>");
	} else if (c.text) {
		append(x, c.text, c.size);
	} else {
		enter(x, c.id);
	}
}

static int expand(const struct mm_strings *s, uint64_t id, bool label, struct byte_buffer *out)
{
	struct expansion x = {.s = s, .out = out, .label = label};

	byte_buffer__clear(out);
	enter(&x, id);
	for (unsigned int steps = 0; x.n && !x.done; steps++) {
		if (steps == STEPS_MAX) {
			append_text(&x, "<invalid>");
			break;
		}
		step(&x);
	}
	byte_buffer__bytes(out, "", 1);
	return out->failed ? -ENOMEM : 0;
}

int mm_strings__text(const struct mm_strings *s, uint64_t id, struct byte_buffer *out)
{
	return expand(s, id, false, out);
}

int mm_strings__label(const struct mm_strings *s, uint64_t id, struct byte_buffer *out)
{
	return expand(s, id, true, out);
}

void mm_strings__destroy(struct mm_strings *s)
{
	free(s->data);
	id_table__destroy(&s->index);
	*s = (struct mm_strings){0};
}
