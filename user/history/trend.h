/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One number of build after build, and where its level changed. docs/history.md says what counts.
 */
#ifndef QPROF_HISTORY_TREND_H
#define QPROF_HISTORY_TREND_H

#include "history/trend_points.h"

/* "cpu", "wall", "count", "memory". */
const char *trend_metric_name(enum trend_metric metric);
/* "ns", "executions", "bytes". */
const char *trend_metric_unit(enum trend_metric metric);

/* "other work"; NULL of TREND_COUNTED. */
const char *trend_reason_name(enum trend_reason reason);

/*
 * No point is no error. -EINVAL if the series has no such metric; else as history_builds__ask(),
 * after an error line as well.
 */
int trend__ask(struct store *s, const struct trend_question *q, struct trend *out);
void trend__clear(struct trend *t);
#define _trend_ __cleanup(trend__clear)

#endif /* QPROF_HISTORY_TREND_H */
