/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The text of a demangled symbol, while it is written. */
#ifndef QPROF_PLAN_SYMBOLS_DEMANGLED_H
#define QPROF_PLAN_SYMBOLS_DEMANGLED_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of text. */
#define DEMANGLED_MAX 4096

struct demangled {
	size_t len;
	char text[DEMANGLED_MAX]; /* without a NUL */
};

/* False if there is no room for `s`. */
bool demangled__put(struct demangled *d, const char *s, size_t len);

#endif /* QPROF_PLAN_SYMBOLS_DEMANGLED_H */
