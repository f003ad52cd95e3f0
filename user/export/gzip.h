/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A gzip stream (RFC 1952) within an export's output. It contains no name and no time, so equal
 * input gives equal bytes.
 */
#ifndef QPROF_EXPORT_GZIP_H
#define QPROF_EXPORT_GZIP_H

#include <stdio.h>

#include "export/out.h"

enum gzip_form {
	GZIP_BYTES,
	/* RFC 4648: no character is special in HTML, and browsers can decode and inflate it. */
	GZIP_BASE64,
};

struct gzip;

/* 0, or -ENOMEM. */
int gzip__new(struct out *out, enum gzip_form form, struct gzip **g);
/* 0, or the output's error, which gzip__finish() returns as well. */
int gzip__bytes(struct gzip *g, const void *data, size_t size);
/*
 * A stream that compresses all bytes written to it. Close it before gzip__finish(). NULL: no
 * memory.
 */
FILE *gzip__stream(struct gzip *g);
int gzip__finish(struct gzip *g);
void gzip__free(struct gzip *g);
DEFINE_CLEANUP(struct gzip, gzip__free)
#define _gzip_ __cleanup(gzip__free_p)

#endif /* QPROF_EXPORT_GZIP_H */
