// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_reader.h"

#include <errno.h>
#include <string.h>

#define BLOCK_EVENTS 2048

struct mm_reader {
	struct mm_file file;
	struct mm_strings strings;
	struct mm_metadata metadata;
	struct byte_buffer text; /* of the last kind or label */
	uint32_t id_size;
	uint32_t event_size;
	uint64_t n_events;
	uint8_t block[BLOCK_EVENTS * MM_EVENT_SIZE];
};

static int read_metadata(struct mm_reader *r)
{
	int err = mm_strings__text(&r->strings, MM_METADATA_ID, &r->text);

	if (err)
		return err;
	err = mm_metadata__parse(&r->metadata, (const char *)r->text.data, r->text.size - 1);
	if (!err && !r->metadata.found)
		r->metadata.start_time_ns = r->file.mtime_ns;
	return err;
}

static void count_events(struct mm_reader *r)
{
	uint64_t size = r->file.streams[MM_EVENTS].size;

	/* Older versions differ in the size of the two ids only. */
	r->event_size = MM_EVENT_SIZE - 2 * (8 - r->id_size);
	if (size < MM_HEADER_SIZE)
		return;
	r->n_events = (size - MM_HEADER_SIZE) / r->event_size;
	if ((size - MM_HEADER_SIZE) % r->event_size)
		mm_file__problem(&r->file, "cut short: its events end inside one");
}

int mm_reader__open(const char *path, struct mm_reader **out, const char **why)
{
	_mm_reader_ struct mm_reader *r = calloc(1, sizeof(*r));
	int err;

	*why = strerrordesc_np(ENOMEM);
	if (!r)
		return -ENOMEM;
	err = mm_file__open(&r->file, path, why);
	if (err)
		return err;
	err = mm_strings__load(&r->strings, &r->file) ?: read_metadata(r);
	if (err) {
		*why = err == -EFBIG ? "it has more than 4 GiB of strings" : strerrordesc_np(-err);
		return err;
	}
	r->id_size = r->strings.id_size;
	count_events(r);
	*out = take_ptr(r);
	return 0;
}

const struct mm_metadata *mm_reader__metadata(const struct mm_reader *r)
{
	return &r->metadata;
}

uint64_t mm_reader__n_events(const struct mm_reader *r)
{
	return r->n_events;
}

static struct mm_event load_event(const struct mm_reader *r, const uint8_t *p)
{
	/* The fields after the ids have the same distances in both versions. */
	const uint8_t *rest = p + 2 * r->id_size - MM_EVENT_THREAD;
	uint32_t high = bytes_load_u32(rest + MM_EVENT_HIGH);
	struct mm_event e = {
		.kind = r->id_size == 8 ? bytes_load_u64(p) : bytes_load_u32(p),
		.id = r->id_size == 8 ? bytes_load_u64(p + 8) : bytes_load_u32(p + 4),
		.thread = bytes_load_u32(rest + MM_EVENT_THREAD),
		.start = bytes_load_u32(rest + MM_EVENT_PAYLOAD1) | (uint64_t)(high >> 16) << 32,
		.end = bytes_load_u32(rest + MM_EVENT_PAYLOAD2) | (uint64_t)(high & 0xffff) << 32,
	};

	if (e.end == MM_INSTANT)
		e.type = MM_INSTANT_EVENT;
	else if (e.end == MM_INTEGER)
		e.type = MM_INTEGER_EVENT;
	return e;
}

int mm_reader__events(struct mm_reader *r, uint64_t first, uint32_t n, struct mm_event *events)
{
	while (n) {
		uint32_t some = n < BLOCK_EVENTS ? n : BLOCK_EVENTS;
		int err = mm_file__read(&r->file, MM_EVENTS, MM_HEADER_SIZE + first * r->event_size,
					r->block, (size_t)some * r->event_size);

		if (err)
			return err;
		for (uint32_t i = 0; i < some; i++)
			*events++ = load_event(r, r->block + (size_t)i * r->event_size);
		first += some;
		n -= some;
	}
	return 0;
}

/* The rule of measureme: not empty, and no control characters except white space. */
static bool is_label(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool space =
			text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r' && text[i] != '\v');

		if (!space && (text[i] < 0x20 || text[i] == 0x7f))
			return false;
	}
	return size > 0;
}

const char *mm_reader__label(struct mm_reader *r, uint64_t id)
{
	if (mm_strings__label(&r->strings, id, &r->text))
		return NULL;
	return is_label(r->text.data, r->text.size - 1) ? (const char *)r->text.data
							: "<parse error>";
}

const char *mm_reader__kind(struct mm_reader *r, uint64_t kind)
{
	/* A text with a NUL ends there. */
	return mm_strings__text(&r->strings, kind, &r->text) ? NULL : (const char *)r->text.data;
}

uint32_t mm_reader__address(const struct mm_reader *r, uint64_t id)
{
	return mm_strings__address(&r->strings, id);
}

const struct mm_strings *mm_reader__strings(const struct mm_reader *r)
{
	return &r->strings;
}

const char *mm_reader__problem(const struct mm_reader *r)
{
	return *r->file.problem ? r->file.problem : NULL;
}

void mm_reader__free(struct mm_reader *r)
{
	if (!r)
		return;
	mm_file__destroy(&r->file);
	mm_strings__destroy(&r->strings);
	mm_metadata__clear(&r->metadata);
	byte_buffer__destroy(&r->text);
	free(r);
}
