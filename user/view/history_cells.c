// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/history_cells.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"

#define COMMIT_SHOWN 12
#define MANY	     10 /* times as much: a factor says more than a percentage */
#define UNKNOWN	     "-"

char *history_value(char buf[HISTORY_CELL_MAX], enum trend_metric metric, uint64_t value)
{
	if (value == HISTORY_UNKNOWN)
		return strcpy(buf, UNKNOWN);
	if (metric == TREND_COUNT || metric == TREND_RESULTS)
		return format_count(buf, value);
	return metric == TREND_MEMORY ? format_bytes(buf, value) : format_duration(buf, value);
}

char *history_change(char buf[HISTORY_CELL_MAX], double change)
{
	double percent = fabs(change) * 100;

	if (!isfinite(change))
		strcpy(buf, "new");
	else if (change >= MANY - 1)
		snprintf(buf, HISTORY_CELL_MAX, "x%.3g", change + 1);
	else
		snprintf(buf, HISTORY_CELL_MAX, "%s%.*f %%", change < 0 ? "-" : "+",
			 percent >= 0.995 || !change ? 1 : 2, percent);
	return buf;
}

char *history_date(char buf[HISTORY_CELL_MAX], uint64_t start_ns)
{
	time_t seconds = (time_t)(start_ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buf, HISTORY_CELL_MAX, "%Y-%m-%d %H:%M", &tm))
		strcpy(buf, UNKNOWN);
	return buf;
}

/* At most `most` columns of the text, without what a terminal would obey. */
static void copy_clean(char buf[HISTORY_CELL_MAX], const char *text, size_t most)
{
	_free_ char *clean = text ? format_clean(text) : NULL;
	size_t len = clean ? format_fit(clean, most) : 0;

	if (len >= HISTORY_CELL_MAX - 1)
		len = 0;
	if (!len) {
		strcpy(buf, UNKNOWN);
		return;
	}
	memcpy(buf, clean, len);
	buf[len] = '\0';
}

char *history_commit(char buf[HISTORY_CELL_MAX], const struct history_build *build)
{
	copy_clean(buf, build->commit, COMMIT_SHOWN);
	if (build->commit && build->dirty == 1)
		strcat(buf, "+");
	return buf;
}

char *history_toolchain(char buf[HISTORY_CELL_MAX], const char *toolchain)
{
	char version[32];

	/* "rustc 1.95.0 (...)", "rustc version 1.95.0 (...)", "1.95.0" */
	for (const char *space;
	     toolchain && (space = strchr(toolchain, ' ')) && !isdigit((unsigned char)*toolchain);)
		toolchain = space + 1;
	snprintf(version, sizeof(version), "%.*s", toolchain ? (int)strcspn(toolchain, " ") : 0,
		 toolchain ?: "");
	copy_clean(buf, version, sizeof(version));
	return buf;
}
