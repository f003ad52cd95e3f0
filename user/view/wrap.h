/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints sentences on a terminal; lines break between words. */
#ifndef QPROF_VIEW_WRAP_H
#define QPROF_VIEW_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Default width without a terminal. */
#define WRAP_COLUMNS 80

/*
 * Print clean `text` and a newline, on a line with `used` columns already taken. A word that would
 * exceed `width` columns (0: unlimited) starts a new line after `indent` blanks; the first word
 * never does. Leading blanks of `text` are kept.
 */
void wrap_print(FILE *out, const char *text, size_t used, size_t width, size_t indent);

#endif /* QPROF_VIEW_WRAP_H */
