/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Cells of the tables of a history. */
#ifndef QPROF_VIEW_HISTORY_CELLS_H
#define QPROF_VIEW_HISTORY_CELLS_H

#include "base/format.h"
#include "history/trend.h"

#define HISTORY_CELL_MAX 64

/* All of these fill `buf` and return it. Texts of builds are clean in it. */

/* "1.02 s", "1,030,000", "16.0 MiB"; "-" if it is not known. */
char *history_value(char buf[HISTORY_CELL_MAX], enum trend_metric metric, uint64_t value);
/* "+10.3 %", "-0.25 %", "x12.5", "new" of an infinite change. */
char *history_change(char buf[HISTORY_CELL_MAX], double change);
/* "2026-10-12 14:03", in the user's time zone. */
char *history_date(char buf[HISTORY_CELL_MAX], uint64_t start_ns);
/* "77aa01bc12d0", with a + if the source had other changes; "-" if it is not known. */
char *history_commit(char buf[HISTORY_CELL_MAX], const struct history_build *build);
/* "1.95.0", of "rustc 1.95.0 (59807616e 2026-04-14)"; "-" if it is not known. */
char *history_toolchain(char buf[HISTORY_CELL_MAX], const char *toolchain);

#endif /* QPROF_VIEW_HISTORY_CELLS_H */
