// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <math.h>
#include <time.h>

#include "test.h"
#include "view/history_cells.h"

static char buf[HISTORY_CELL_MAX];

TEST_CASE(values_have_their_unit)
{
	assert_string_equal(history_value(buf, TREND_CPU, 1020000000), "1.02 s");
	assert_string_equal(history_value(buf, TREND_COUNT, 1030000), "1,030,000");
	assert_string_equal(history_value(buf, TREND_MEMORY, 16 << 20), "16.0 MiB");
	assert_string_equal(history_value(buf, TREND_WALL, HISTORY_UNKNOWN), "-");
}

TEST_CASE(changes_are_percentages_or_factors)
{
	assert_string_equal(history_change(buf, 0.1034), "+10.3 %");
	assert_string_equal(history_change(buf, -0.0025), "-0.25 %");
	assert_string_equal(history_change(buf, 0.00996), "+1.0 %");
	assert_string_equal(history_change(buf, 0), "+0.0 %");
	assert_string_equal(history_change(buf, 11.5), "x12.5");
	assert_string_equal(history_change(buf, INFINITY), "new");
}

TEST_CASE(dates_are_of_the_users_time_zone)
{
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	assert_string_equal(history_date(buf, 1790000000000000000), "2026-09-21 16:13");
	assert_string_equal(history_date(buf, 0), "1970-01-01 01:00");
}

TEST_CASE(commits_are_short_and_clean)
{
	struct history_build build = {.dirty = 1};
	char wide[1024];

	assert_string_equal(history_commit(buf, &build), "-");
	build.commit = "0123456789abcdef";
	assert_string_equal(history_commit(buf, &build), "0123456789ab+");
	build.commit = "\033[31m";
	build.dirty = HISTORY_UNKNOWN;
	assert_string_equal(history_commit(buf, &build), "?[31m");
	/* Characters without a width could fill more than the cell. */
	wide[0] = 'x';
	for (size_t i = 1; i < 901; i += 2)
		memcpy(wide + i, "\xcc\x81", 3);
	build.commit = wide;
	assert_true(strlen(history_commit(buf, &build)) < HISTORY_CELL_MAX);
}

TEST_CASE(toolchains_are_their_version)
{
	assert_string_equal(history_toolchain(buf, "rustc 1.95.0 (59807616e 2026-04-14)"),
			    "1.95.0");
	assert_string_equal(history_toolchain(buf, "rustc 1.97.0-nightly (x)"), "1.97.0-nightly");
	assert_string_equal(history_toolchain(buf, "rustc version 1.95.0 (x)"), "1.95.0");
	assert_string_equal(history_toolchain(buf, "1.95.0"), "1.95.0");
	assert_string_equal(history_toolchain(buf, "\033"), "?");
	assert_string_equal(history_toolchain(buf, NULL), "-");
	assert_string_equal(history_toolchain(buf, ""), "-");
}

TEST_MAIN(NULL, NULL)
