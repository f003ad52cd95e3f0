// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/gzip.h"

#include <errno.h>
#include <stdbool.h>
#include <zlib.h>

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
	out__packs(g->out, size);
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
