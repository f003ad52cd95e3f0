// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/closing_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/format.h"

#define PART 96

void closing_line__print(const struct closing_line *l)
{
	char size[FORMAT_MAX], intervals[PART] = "", samples[PART] = "";
	int len = 0;

	if (l->unknown_hits)
		diag_info("of %" PRIu64
			  " cache hits the query is unknown: its execution was not recorded",
			  l->unknown_hits);
	format_bytes(size, l->bytes);
	/* Without probes there is nothing to count. */
	if (!l->sampled || l->queries || l->others)
		len = snprintf(intervals, PART, "%" PRIu64 " queries", l->queries);
	if (l->others)
		len += snprintf(intervals + len, PART - len, ", %" PRIu64 " activities and waits",
				l->others);
	if (l->hits)
		snprintf(intervals + len, PART - len, ", %" PRIu64 " cache hits", l->hits);

	len = 0;
	if (l->sampled)
		len = snprintf(samples, PART, "%" PRIu64 " samples", l->samples);
	if (l->samples_cut)
		len += snprintf(samples + len, PART - len, " (%" PRIu64 " with a cut stack)",
				l->samples_cut);
	if (l->samples_lost)
		snprintf(samples + len, PART - len, " (%" PRIu64 " lost)", l->samples_lost);
	diag_info("recorded %s%s%s of %" PRIu32 " compiler%s, %" PRIu64 " lost; wrote %s (%s)",
		  intervals, *intervals && *samples ? ", " : "", samples, l->compilers,
		  l->compilers == 1 ? "" : "s", l->lost, l->place, size);
}
