/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executions of builds of which not all count the same queries. */
#ifndef QPROF_HISTORY_TREND_COUNTED_H
#define QPROF_HISTORY_TREND_COUNTED_H

#include "history/store.h"
#include "history/trend_points.h"

/*
 * Make the executions of builds, or of a crate, those of the queries that all counted points count;
 * their names are t->uncounted, in a note. Where an uncounted query of a point is not among these,
 * its value becomes unknown. 0, or a negative errno after a line.
 */
int trend_counted__level(struct store *s, struct trend *t);

#endif /* QPROF_HISTORY_TREND_COUNTED_H */
