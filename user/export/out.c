// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/out.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/file_writer.h"
#include "base/format.h"

#define BUFFER_BYTES 65536u
#define REPLACEMENT  "\xef\xbf\xbd"
#define NUMBER_MAX   20 /* digits of a 64-bit number */

struct out {
	struct file_writer file;
	size_t used;
	uint64_t most;
	uint64_t packed; /* uncompressed bytes of compressed output */
	char buffer[BUFFER_BYTES];
};

int out__new(int fd, struct out **o)
{
	struct out *out = malloc(sizeof(*out));

	if (!out)
		return -ENOMEM;
	out->file = (struct file_writer){.fd = fd};
	out->used = 0;
	out->most = UINT64_MAX;
	out->packed = 0;
	*o = out;
	return 0;
}

uint64_t out__size(const struct out *o)
{
	return o->file.bytes + o->used;
}

void out__limit(struct out *o, uint64_t most)
{
	o->most = most;
}

void out__packs(struct out *o, size_t bytes)
{
	o->packed += bytes;
	if (o->packed / 16 > o->most)
		file_writer__fail(&o->file, -EFBIG);
}

void out__bytes(struct out *o, const void *data, size_t size)
{
	if (size > o->most || out__size(o) > o->most - size) {
		file_writer__fail(&o->file, -EFBIG);
		return;
	}
	if (size > BUFFER_BYTES - o->used) {
		file_writer__write(&o->file, o->buffer, o->used);
		o->used = 0;
	}
	if (size > BUFFER_BYTES) {
		file_writer__write(&o->file, data, size);
		return;
	}
	memcpy(o->buffer + o->used, data, size);
	o->used += size;
}

void out__text(struct out *o, const char *text)
{
	out__bytes(o, text, strlen(text));
}

void out__number(struct out *o, uint64_t n)
{
	char digits[NUMBER_MAX], *p = digits + NUMBER_MAX;

	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	out__bytes(o, p, digits + NUMBER_MAX - p);
}

void out__json(struct out *o, const char *text)
{
	const char *clean = text;
	char scratch[FORMAT_ESCAPE];
	uint32_t cp;

	out__bytes(o, "\"", 1);
	while (*text) {
		size_t len = format_utf8(text, &cp);
		const char *other = len ? format_json_escape(cp, scratch) : REPLACEMENT;

		len = len ?: 1;
		if (other) {
			out__bytes(o, clean, text - clean);
			out__text(o, other);
			clean = text + len;
		}
		text += len;
	}
	out__bytes(o, clean, text - clean);
	out__bytes(o, "\"", 1);
}

void out__plain(struct out *o, const char *text, const char *stops, char substitute)
{
	const char *clean = text;
	uint32_t cp;

	for (size_t len; *text; text += len) {
		bool valid = (len = format_utf8(text, &cp));

		len = len ?: 1;
		if (valid && !format_is_unsafe(cp) && (cp > 0x7f || !strchr(stops, (int)cp)))
			continue;
		out__bytes(o, clean, text - clean);
		if (valid)
			out__bytes(o, &substitute, 1);
		else
			out__text(o, REPLACEMENT);
		clean = text + len;
	}
	out__bytes(o, clean, text - clean);
}

int out__error(const struct out *o)
{
	return o->file.error;
}

int out__flush(struct out *o)
{
	file_writer__write(&o->file, o->buffer, o->used);
	o->used = 0;
	return o->file.error;
}

void out__free(struct out *o)
{
	free(o);
}
