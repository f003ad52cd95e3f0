/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which points of a trend are comparable, and with which others. */
#ifndef QPROF_HISTORY_TREND_KINDS_H
#define QPROF_HISTORY_TREND_KINDS_H

#include "history/trend_points.h"

/* A group of fewer points has no statistics of its own. */
#define TREND_KINDS_LEAST 6

/*
 * Set the reasons and groups of points that are TREND_COUNTED or TREND_FAILED so far, and add notes
 * to the trend. Points are of one group if they are of one profile, and of times if they ran on one
 * host and were recorded alike. If most of the builds ran on hosts that have too few of them, hosts
 * with the same number of CPUs are one. Toolchains make groups if they take turns, as in a CI that
 * builds each commit by several; a new toolchain that stays is a change like others. -ENOMEM.
 */
int trend_kinds__sort_out(struct trend *t);

/* Add a note of printf's; -ENOMEM. */
int trend__note(struct trend *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* QPROF_HISTORY_TREND_KINDS_H */
