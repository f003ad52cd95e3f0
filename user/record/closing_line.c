// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/closing_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/format.h"

void closing_line__print(const struct closing_line *l)
{
	char size[FORMAT_MAX], intervals[64] = "", hits[64] = "";

	if (l->unknown_hits)
		diag_info("of %" PRIu64
			  " cache hits the query is unknown: its execution was not recorded",
			  l->unknown_hits);
	format_bytes(size, l->bytes);
	if (l->others)
		snprintf(intervals, sizeof(intervals), " and %" PRIu64 " other intervals",
			 l->others);
	if (l->hits)
		snprintf(hits, sizeof(hits), " and %" PRIu64 " cache hits", l->hits);
	diag_info("recorded %" PRIu64 " queries%s%s of %" PRIu32 " compiler%s, %" PRIu64
		  " lost; wrote %s (%s)",
		  l->queries, intervals, hits, l->compilers, l->compilers == 1 ? "" : "s", l->lost,
		  l->place, size);
}
