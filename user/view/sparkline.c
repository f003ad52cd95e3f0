// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/sparkline.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define OUTER 20 /* one value in so many, at each end, may be an outlier */

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {"_", ".", "-", "~", "=", "+", "*", "#"};

static size_t used_columns(const struct sparkline *s)
{
	return s->n < s->columns ? s->n : s->columns;
}

size_t sparkline_column(const struct sparkline *s, size_t i)
{
	return s->n <= s->columns ? i : i * s->columns / s->n;
}

/* The mean of the known values of a column; negative if there is none. */
static double mean_of(const struct sparkline *s, size_t column, size_t *next)
{
	double sum = 0;
	size_t n = 0;

	for (; *next < s->n && sparkline_column(s, *next) == column; ++*next) {
		if (s->values[*next] < 0)
			continue;
		sum += s->values[*next];
		n++;
	}
	return n ? sum / (double)n : -1;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* A single outlier must not flatten the rest: the range is that of most values, and some more. */
static void find_range(double *sorted, size_t n, double least, double *low, double *high)
{
	double margin;

	qsort(sorted, n, sizeof(*sorted), compare);
	*low = sorted[n / OUTER];
	*high = sorted[n - 1 - n / OUTER];
	margin = (*high - *low) / 4;
	*low = fmax(sorted[0], *low - margin);
	*high = fmin(sorted[n - 1], *high + margin);
	if (*high - *low < *low * least) {
		double middle = (*low + *high) / 2;

		*low = middle * (1 - least / 2);
		*high = middle * (1 + least / 2);
	}
}

static size_t level_of(double value, double low, double high)
{
	if (value <= low || high <= low)
		return 0;
	if (value >= high)
		return N_OF(blocks) - 1;
	return (size_t)((value - low) / (high - low) * N_OF(blocks));
}

int sparkline_print(FILE *out, const struct sparkline *s)
{
	const char *const *marks = s->blocks ? blocks : ascii;
	_free_ double *means = calloc(used_columns(s) ?: 1, 2 * sizeof(*means));
	double low = 0, high = 0, *known = means + used_columns(s);
	size_t next = 0, n = 0;

	if (!means)
		return -ENOMEM;
	for (size_t c = 0; c < used_columns(s); c++) {
		means[c] = mean_of(s, c, &next);
		if (means[c] >= 0)
			known[n++] = means[c];
	}
	if (n)
		find_range(known, n, s->least, &low, &high);
	for (size_t c = 0; c < used_columns(s); c++)
		fputs(means[c] < 0 ? " " : marks[level_of(means[c], low, high)], out);
	return 0;
}

bool sparkline_has_blocks(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}
