// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/trace_id.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/format.h"
#include "trace/bytes.h"

enum { VERSION_BYTE = 6, VARIANT_BYTE = 8 };

static void set_version(struct trace_id *id, unsigned int version)
{
	id->bytes[VERSION_BYTE] = (id->bytes[VERSION_BYTE] & 0x0f) | version << 4;
	id->bytes[VARIANT_BYTE] = (id->bytes[VARIANT_BYTE] & 0x3f) | 0x80;
}

int trace_id__make(struct trace_id *id)
{
	ssize_t n = getrandom(id->bytes, sizeof(id->bytes), GRND_NONBLOCK);

	if (n != sizeof(id->bytes))
		return n < 0 ? -errno : -EAGAIN;
	set_version(id, 4);
	return 0;
}

bool trace_id__is_set(const struct trace_id *id)
{
	static const struct trace_id none;

	return memcmp(id, &none, sizeof(none)) != 0;
}

/* Two hashes of all parts, which begin apart. */
struct name_hash {
	uint64_t of[2];
};

/* Histories keep it: it never changes. */
static void add_bytes(struct name_hash *h, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t part = size;

	for (size_t n; size; at += n, size -= n) {
		uint64_t word = 0;

		n = size < sizeof(word) ? size : sizeof(word);
		memcpy(&word, at, n);
		part = (part ^ word) * 0x9e3779b97f4a7c15;
		part ^= part >> 32;
	}
	for (int i = 0; i < 2; i++) {
		h->of[i] = (h->of[i] ^ part) * 0xbf58476d1ce4e5b9;
		h->of[i] ^= h->of[i] >> 29;
	}
}

static void add_number(struct name_hash *h, uint64_t number)
{
	uint8_t bytes[sizeof(number)];

	bytes_store_u64(bytes, number);
	add_bytes(h, bytes, sizeof(bytes));
}

static void add_text(struct name_hash *h, const char *text)
{
	add_bytes(h, text ?: "", strlen(text ?: ""));
}

struct trace_id trace_id_of(const struct trace_info *info, const struct trace_process *first)
{
	struct name_hash h = {{1, 2}};
	struct trace_id id;

	if (trace_id__is_set(&info->id))
		return info->id;
	add_number(&h, info->clock_start_ns);
	add_number(&h, info->realtime_start_ns);
	add_text(&h, info->tool);
	add_text(&h, info->host);
	if (first) {
		add_number(&h, first->pid);
		add_number(&h, first->start_ns);
		add_text(&h, first->command);
	}
	for (int i = 0; i < 2; i++)
		bytes_store_u64(id.bytes + 8 * i, h.of[i]);
	set_version(&id, 8);
	return id;
}

void trace_id__text(const struct trace_id *id, char text[TRACE_ID_TEXT])
{
	static const size_t groups[] = {4, 2, 2, 2, 6};
	const uint8_t *at = id->bytes;

	for (size_t i = 0; i < N_OF(groups); i++) {
		if (i)
			*text++ = '-';
		format_hex(text, at, groups[i]);
		text += 2 * groups[i];
		at += groups[i];
	}
}
