// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/packed.h"

#include <errno.h>
#include <stdbool.h>
#include <zlib.h>

#define LEVEL	     6	       /* 9 takes twice as long, for half a percent */
#define WINDOW_BITS  (15 + 16) /* with the header of a file */
#define MEMORY_LEVEL 9
#define BUFFER	     12288 /* three bytes are four characters */

struct packed {
	struct out *out;
	z_stream z;
	uint8_t bytes[BUFFER];
	size_t used;
	char text[BUFFER / 3 * 4];
};

int packed__new(struct out *out, struct packed **p)
{
	struct packed *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->out = out;
	if (deflateInit2(&new->z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(new);
		return -ENOMEM;
	}
	*p = new;
	return 0;
}

static void put_base64(struct packed *p)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t at = 0;

	for (size_t i = 0; i < p->used; i += 3) {
		size_t n = p->used - i < 3 ? p->used - i : 3;
		uint32_t group = (uint32_t)p->bytes[i] << 16;

		group |= n > 1 ? (uint32_t)p->bytes[i + 1] << 8 : 0;
		group |= n > 2 ? p->bytes[i + 2] : 0;
		p->text[at++] = digits[group >> 18];
		p->text[at++] = digits[group >> 12 & 63];
		p->text[at++] = n > 1 ? digits[group >> 6 & 63] : '=';
		p->text[at++] = n > 2 ? digits[group & 63] : '=';
	}
	out__bytes(p->out, p->text, at);
	p->used = 0;
}

/* Until all that was given is taken; at the end, until all is out. Only the end is padded. */
static void pump(struct packed *p, int flush)
{
	bool more;

	do {
		p->z.next_out = p->bytes + p->used;
		p->z.avail_out = (uInt)(BUFFER - p->used);
		deflate(&p->z, flush);
		p->used = BUFFER - p->z.avail_out;
		more = !p->z.avail_out;
		if (more)
			put_base64(p);
	} while (more);
	if (flush == Z_FINISH)
		put_base64(p);
}

void packed__bytes(struct packed *p, const void *data, size_t size)
{
	p->z.next_in = (Bytef *)data;
	p->z.avail_in = (uInt)size;
	pump(p, Z_NO_FLUSH);
}

static ssize_t write_stream(void *cookie, const char *data, size_t size)
{
	packed__bytes(cookie, data, size);
	return (ssize_t)size;
}

FILE *packed__stream(struct packed *p)
{
	return fopencookie(p, "w", (cookie_io_functions_t){.write = write_stream});
}

int packed__finish(struct packed *p)
{
	packed__bytes(p, NULL, 0);
	pump(p, Z_FINISH);
	return out__error(p->out);
}

void packed__free(struct packed *p)
{
	if (!p)
		return;
	deflateEnd(&p->z);
	free(p);
}
