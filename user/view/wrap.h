/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sentences on a terminal: lines end between words. */
#ifndef QPROF_VIEW_WRAP_H
#define QPROF_VIEW_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Where there is no terminal to ask. */
#define WRAP_COLUMNS 80

/*
 * Print clean `text` and a newline, on a line of which `used` columns are taken. A word that would
 * go beyond `width` columns (0: none does) begins a line, behind `indent` blanks, but for the
 * first. Blanks that `text` begins with are kept.
 */
void wrap_print(FILE *out, const char *text, size_t used, size_t width, size_t indent);

#endif /* QPROF_VIEW_WRAP_H */
