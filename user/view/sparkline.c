// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/sparkline.h"

#include <langinfo.h>
#include <string.h>

#include "base/array.h"

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {"_", ".", "-", "~", "=", "+", "*", "#"};

size_t sparkline_columns(const struct sparkline *s)
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

static void find_range(const struct sparkline *s, double *low, double *high)
{
	size_t next = 0;

	*low = *high = -1;
	for (size_t c = 0; c < sparkline_columns(s); c++) {
		double mean = mean_of(s, c, &next);

		if (mean < 0)
			continue;
		if (*low < 0 || mean < *low)
			*low = mean;
		if (mean > *high)
			*high = mean;
	}
	if (*high - *low < *low * s->least) {
		double middle = (*low + *high) / 2;

		*low = middle * (1 - s->least / 2);
		*high = middle * (1 + s->least / 2);
	}
}

void sparkline_print(FILE *out, const struct sparkline *s)
{
	const char *const *marks = s->blocks ? blocks : ascii;
	double low, high;
	size_t next = 0;

	find_range(s, &low, &high);
	for (size_t c = 0; c < sparkline_columns(s); c++) {
		double mean = mean_of(s, c, &next);
		size_t level =
			high > low ? (size_t)((mean - low) / (high - low) * N_OF(blocks)) : 0;

		if (mean < 0)
			fputc(' ', out);
		else
			fputs(marks[level < N_OF(blocks) ? level : N_OF(blocks) - 1], out);
	}
}

bool sparkline_has_blocks(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}
