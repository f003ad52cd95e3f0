// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/closing_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/format.h"

#define PART 96

/* Without probes there is nothing to count. */
static void intervals_text(char text[PART], const struct closing_line *l)
{
	int len = 0;

	text[0] = '\0';
	if (!l->sampled || l->queries || l->others)
		len = snprintf(text, PART, "%" PRIu64 " queries", l->queries);
	if (l->others)
		len += snprintf(text + len, PART - len, ", %" PRIu64 " activities and waits",
				l->others);
	if (l->hits)
		snprintf(text + len, PART - len, ", %" PRIu64 " cache hits", l->hits);
}

static void samples_text(char text[PART], const struct closing_line *l)
{
	int len = 0;

	text[0] = '\0';
	if (l->sampled)
		len = snprintf(text, PART, "%" PRIu64 " samples", l->samples);
	if (l->samples_cut)
		len += snprintf(text + len, PART - len, " (%" PRIu64 " with a cut stack)",
				l->samples_cut);
	if (l->samples_lost)
		snprintf(text + len, PART - len, " (%" PRIu64 " lost)", l->samples_lost);
}

void closing_line__print(const struct closing_line *l)
{
	char size[FORMAT_MAX], intervals[PART], samples[PART];

	if (l->unknown_hits)
		diag_info("of %" PRIu64
			  " cache hits the query is unknown: its execution was not recorded",
			  l->unknown_hits);
	format_bytes(size, l->bytes);
	intervals_text(intervals, l);
	samples_text(samples, l);
	diag_info("recorded %s%s%s of %" PRIu32 " compiler%s, %" PRIu64 " lost; wrote %s (%s)",
		  intervals, *intervals && *samples ? ", " : "", samples, l->compilers,
		  l->compilers == 1 ? "" : "s", l->lost, l->place, size);
}
