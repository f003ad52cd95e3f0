// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/out.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

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

/* ---- gzip ------------------------------------------------------------------------------------ */

#define LEVEL	    6	      /* 9 takes twice as long, for half a percent */
#define WINDOW_BITS (15 + 16) /* with a gzip header */
#define BUFFER	    12288     /* a multiple of 3, which base64 encodes as 4 characters */

struct gzip {
	struct out *out;
	enum gzip_form form;
	z_stream z;
	uint8_t bytes[BUFFER];
	size_t used;
	char text[BUFFER / 3 * 4];
};

int gzip__new(struct out *out, enum gzip_form form, struct gzip **g)
{
	int memory_level = form == GZIP_BASE64 ? 9 : 8;
	struct gzip *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->out = out;
	new->form = form;
	if (deflateInit2(&new->z, LEVEL, Z_DEFLATED, WINDOW_BITS, memory_level,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(new);
		return -ENOMEM;
	}
	*g = new;
	return 0;
}

/* Encode the buffer into `text`; returns the number of characters. */
static size_t encode(struct gzip *g)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t at = 0;

	for (size_t i = 0; i < g->used; i += 3) {
		size_t n = g->used - i < 3 ? g->used - i : 3;
		uint32_t group = (uint32_t)g->bytes[i] << 16;

		group |= n > 1 ? (uint32_t)g->bytes[i + 1] << 8 : 0;
		group |= n > 2 ? g->bytes[i + 2] : 0;
		g->text[at++] = digits[group >> 18];
		g->text[at++] = digits[group >> 12 & 63];
		g->text[at++] = n > 1 ? digits[group >> 6 & 63] : '=';
		g->text[at++] = n > 2 ? digits[group & 63] : '=';
	}
	return at;
}

static void put(struct gzip *g)
{
	if (g->form == GZIP_BASE64)
		out__bytes(g->out, g->text, encode(g));
	else
		out__bytes(g->out, g->bytes, g->used);
	g->used = 0;
}

/*
 * Compress until zlib has consumed all input and, at the end, returned all output. Only full
 * buffers are written before the end, because base64 allows padding only there.
 */
static int pump(struct gzip *g, int flush)
{
	bool more;

	do {
		g->z.next_out = g->bytes + g->used;
		g->z.avail_out = (uInt)(BUFFER - g->used);
		deflate(&g->z, flush);
		g->used = BUFFER - g->z.avail_out;
		more = !g->z.avail_out;
		if (more)
			put(g);
	} while (more);
	if (flush == Z_FINISH)
		put(g);
	return out__error(g->out);
}

int gzip__bytes(struct gzip *g, const void *data, size_t size)
{
	/*
	 * The limit also applies to a sixteenth of all that is compressed, because that takes time;
	 * only data made for it compresses better.
	 */
	g->out->packed += size;
	if (g->out->packed / 16 > g->out->most)
		file_writer__fail(&g->out->file, -EFBIG);
	if (out__error(g->out))
		return out__error(g->out);
	g->z.next_in = (Bytef *)data;
	g->z.avail_in = (uInt)size;
	return pump(g, Z_NO_FLUSH);
}

static ssize_t write_stream(void *cookie, const char *data, size_t size)
{
	return gzip__bytes(cookie, data, size) ? 0 : (ssize_t)size;
}

FILE *gzip__stream(struct gzip *g)
{
	return fopencookie(g, "w", (cookie_io_functions_t){.write = write_stream});
}

int gzip__finish(struct gzip *g)
{
	int err = gzip__bytes(g, NULL, 0);

	return err ?: pump(g, Z_FINISH);
}

void gzip__free(struct gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->z);
	free(g);
}
