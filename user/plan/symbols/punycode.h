/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Punycode (RFC 3492): the encoding of letters beyond ASCII in symbols. */
#ifndef QPROF_PLAN_SYMBOLS_PUNYCODE_H
#define QPROF_PLAN_SYMBOLS_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>

/* Limit of letters in a name: the time to decode it grows with their square. */
#define PUNYCODE_LETTERS_MAX 512
/* The bytes that these letters may take in UTF-8. */
#define PUNYCODE_BYTES_MAX (4 * PUNYCODE_LETTERS_MAX)

/*
 * Write the letters of `ascii` and the letters that `deltas` inserts between them, as UTF-8 without
 * a NUL. False if the deltas are wrong, or if there are too many letters.
 */
bool punycode__decode(const char *ascii, size_t n_ascii, const char *deltas, size_t n_deltas,
		      char out[static PUNYCODE_BYTES_MAX], size_t *n_out);

#endif /* QPROF_PLAN_SYMBOLS_PUNYCODE_H */
