/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The output of an export: a descriptor behind a buffer, with texts escaped as each format needs.
 * Names come from traces and from other people's command lines; escaping keeps them from ending the
 * construct that contains them. The first error is kept: out__flush() returns it, and nothing is
 * written after it.
 */
#ifndef QPROF_EXPORT_OUT_H
#define QPROF_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"

struct out;

/* The caller keeps the descriptor. Nothing is written beyond the limit; the error is -EFBIG. */
int out__new(int fd, struct out **o);

/* Set the limit to `most` bytes. UINT64_MAX, the initial value, is no limit. */
void out__limit(struct out *o, uint64_t most);

/* On failure these set out__error(), and nothing is written after that. */
void out__bytes(struct out *o, const void *data, size_t size);
void out__text(struct out *o, const char *text);
void out__number(struct out *o, uint64_t n);

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD (format_json_escape()). */
void out__json(struct out *o, const char *text);

/*
 * UTF-8 text. Invalid bytes become U+FFFD. All unsafe characters, line ends among them, and
 * characters of `stops`, which are ASCII, become `substitute`.
 */
void out__plain(struct out *o, const char *text, const char *stops, char substitute);

/* Bytes so far, buffered or written. */
uint64_t out__size(const struct out *o);

/* The first error there was, or 0. */
int out__error(const struct out *o);

/* Write the buffered data. Returns the first error so far, or 0. */
int out__flush(struct out *o);

/* Discards buffered data. */
void out__free(struct out *o);
DEFINE_CLEANUP(struct out, out__free)
#define _out_ __cleanup(out__free_p)

/*
 * A gzip stream (RFC 1952) within an export's output. It contains no name and no time, so equal
 * input gives equal bytes.
 */

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

#endif /* QPROF_EXPORT_OUT_H */
