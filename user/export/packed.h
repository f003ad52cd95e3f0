/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A block of bytes in a page of HTML: a gzip stream (RFC 1952), which a browser inflates without a
 * library, as base64 (RFC 4648), of which no character means anything to HTML.
 */
#ifndef QPROF_EXPORT_PACKED_H
#define QPROF_EXPORT_PACKED_H

#include <stdio.h>

#include "export/out.h"

struct packed;

/* 0, or -ENOMEM. */
int packed__new(struct out *out, struct packed **p);
/* Errors are told by packed__finish(). */
void packed__bytes(struct packed *p, const void *data, size_t size);
/* What is written to the stream is packed. To be closed before packed__finish(). NULL: no memory.
 */
FILE *packed__stream(struct packed *p);
/* 0, or the output's error. */
int packed__finish(struct packed *p);
void packed__free(struct packed *p);
DEFINE_CLEANUP(struct packed, packed__free)
#define _packed_ __cleanup(packed__free_p)

#endif /* QPROF_EXPORT_PACKED_H */
