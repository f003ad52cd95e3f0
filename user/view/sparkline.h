/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A series of numbers as one line of characters. Outliers have the lowest and the highest mark. */
#ifndef QPROF_VIEW_SPARKLINE_H
#define QPROF_VIEW_SPARKLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sparkline {
	const double *values; /* a negative one is unknown: a blank */
	size_t n;
	size_t columns; /* at most so many; values that share one are shown by their mean */
	double least;	/* the highest mark stands for at least this much more than the lowest, as
			   a ratio: less is not worth seeing */
	bool blocks;	/* Unicode; else ASCII */
};

/* The column of value `i`. */
size_t sparkline_column(const struct sparkline *s, size_t i);
/* 0 or -ENOMEM. */
int sparkline_print(FILE *out, const struct sparkline *s);

/* Whether the locale's characters are those of Unicode, in UTF-8. */
bool sparkline_has_blocks(void);

#endif /* QPROF_VIEW_SPARKLINE_H */
