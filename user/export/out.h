/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What an export writes to: a descriptor behind a buffer, and texts as its formats want them. Names
 * come from traces and from other people's command lines; none of these lets them end what they
 * are in. The first error stays: out__flush() returns it, and after it nothing is written.
 */
#ifndef QPROF_EXPORT_OUT_H
#define QPROF_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct out;

/* The descriptor stays the caller's. */
int out__new(int fd, struct out **o);

/* Of these the first that fails is told by out__error(); nothing is written after it. */
void out__bytes(struct out *o, const void *data, size_t size);
void out__text(struct out *o, const char *text);
void out__number(struct out *o, uint64_t n);

/* A count of nanoseconds as microseconds, exactly: "1234.567". */
void out__microseconds(struct out *o, uint64_t ns);

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void out__json(struct out *o, const char *text);

/* Characters of XML, in an element or an attribute; what XML may not hold becomes U+FFFD. */
void out__xml(struct out *o, const char *text);

/*
 * UTF-8; what is not becomes U+FFFD, and whatever ends a line to anyone, each control character and
 * each of `stops`, which are ASCII, a `substitute`.
 */
void out__plain(struct out *o, const char *text, const char *stops, char substitute);

/* Bytes so far, buffered or written. */
uint64_t out__size(const struct out *o);

/* The first error there was, or 0. */
int out__error(const struct out *o);

/* Write what is buffered; the first error there was, or 0. */
int out__flush(struct out *o);

/* What is buffered is lost. */
void out__free(struct out *o);
DEFINE_CLEANUP(struct out, out__free)
#define _out_ __cleanup(out__free_p)

#endif /* QPROF_EXPORT_OUT_H */
