/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One number of build after build, and where its level changed. docs/history.md says what counts.
 */
#ifndef QPROF_HISTORY_TREND_H
#define QPROF_HISTORY_TREND_H

#include "history/trend_points.h"

/* "cpu", "wall", "count", "results", "memory". */
const char *trend_metric_name(enum trend_metric metric);
/* "ns", "executions", "results", "bytes". */
const char *trend_metric_unit(enum trend_metric metric);

/* "other work"; NULL of TREND_COUNTED. */
const char *trend_reason_name(enum trend_reason reason);

/*
 * f->workspace NULL: the workspace of the newest build that matches; f->state is not used. At most
 * CHANGE_POINTS_MOST builds. As history_builds__ask(), after an error line as well.
 */
int trend_builds__ask(struct store *s, const struct history_filter *f, struct trend_builds *out);
void trend_builds__clear(struct trend_builds *b);
#define _trend_builds_ __cleanup(trend_builds__clear)

/* As trend__ask(), of builds that are known already, whatever q->filter, and outlive the trend. */
int trend__of(struct store *s, const struct trend_question *q, const struct trend_builds *b,
	      struct trend *out);

/*
 * No point is no error. -EINVAL if the series has no such metric; else as history_builds__ask(),
 * after an error line as well.
 */
int trend__ask(struct store *s, const struct trend_question *q, struct trend *out);
void trend__clear(struct trend *t);
#define _trend_ __cleanup(trend__clear)

#endif /* QPROF_HISTORY_TREND_H */
