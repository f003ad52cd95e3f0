/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A gzip stream (RFC 1952) into an export's output; without a name or a time, so it is repeatable.
 */
#ifndef QPROF_EXPORT_GZIP_H
#define QPROF_EXPORT_GZIP_H

#include "export/out.h"

struct gzip;

/* 0, or -ENOMEM. */
int gzip__new(struct out *out, struct gzip **g);
/* 0, or the output's error. */
int gzip__bytes(struct gzip *g, const void *data, size_t size);
int gzip__finish(struct gzip *g);
void gzip__free(struct gzip *g);
DEFINE_CLEANUP(struct gzip, gzip__free)
#define _gzip_ __cleanup(gzip__free_p)

#endif /* QPROF_EXPORT_GZIP_H */
