// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/gzip.h"

#include <errno.h>
#include <zlib.h>

#define LEVEL	     6
#define WINDOW_BITS  (15 + 16) /* with the header of a file */
#define MEMORY_LEVEL 8

struct gzip {
	struct out *out;
	z_stream z;
	uint8_t packed[16384];
};

int gzip__new(struct out *out, struct gzip **g)
{
	struct gzip *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->out = out;
	if (deflateInit2(&new->z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(new);
		return -ENOMEM;
	}
	*g = new;
	return 0;
}

/* Until all that was given is taken; at the end, until all is out. */
static int pump(struct gzip *g, int flush)
{
	do {
		g->z.next_out = g->packed;
		g->z.avail_out = sizeof(g->packed);
		deflate(&g->z, flush);
		out__bytes(g->out, g->packed, sizeof(g->packed) - g->z.avail_out);
	} while (!g->z.avail_out);
	return out__error(g->out);
}

int gzip__bytes(struct gzip *g, const void *data, size_t size)
{
	g->z.next_in = (Bytef *)data;
	g->z.avail_in = (uInt)size;
	return pump(g, Z_NO_FLUSH);
}

int gzip__finish(struct gzip *g)
{
	return pump(g, Z_FINISH);
}

void gzip__free(struct gzip *g)
{
	if (!g)
		return;
	deflateEnd(&g->z);
	free(g);
}
