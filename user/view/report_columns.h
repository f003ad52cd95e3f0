/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The columns of a report that text and JSON share: view/columns.h. Rows may be NULL as there. */
#ifndef QPROF_VIEW_REPORT_COLUMNS_H
#define QPROF_VIEW_REPORT_COLUMNS_H

#include "view/columns.h"
#include "view/report_rows.h"

void report_query_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct report_options *opt);
void report_group_columns(struct columns *c, const struct report_row *row,
			  const struct report_rows *all, const struct report_options *opt);
void report_caller_columns(struct columns *c, const struct report_row *row,
			   const struct report_rows *all);

/* The best that is known of a self time, if it is `there`. */
void best_columns(struct columns *c, const struct report_row *row, bool there);

/* How a process ended, and what an incremental compile reused. */
void exit_columns(struct columns *c, const struct trace_process *p);
/* Of a trace; NULL: unknown. */
void losses_columns(struct columns *c, const struct trace_losses *losses);
void reuse_columns(struct columns *c, const struct reuse *reuse);

#endif /* QPROF_VIEW_REPORT_COLUMNS_H */
