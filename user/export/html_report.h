/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The output of `report --json --by crate`, with the object "build" that a report without --by has,
 * so that a page shows exactly the same numbers.
 */
#ifndef QPROF_EXPORT_HTML_REPORT_H
#define QPROF_EXPORT_HTML_REPORT_H

#include <stdio.h>

#include "export/job.h"

struct html_report;

/* The job outlives it. 0, or -ENOMEM. */
int html_report__new(struct export_job *job, struct html_report **out);
/* Take an item. Call it for every item, in the order of the trace. 0 or a negative errno. */
int html_report__item(struct html_report *h, const struct trace_item *item);
/* Print, after all items. 0 or a negative errno. */
int html_report__print(struct html_report *h, FILE *to);
void html_report__free(struct html_report *h);
DEFINE_CLEANUP(struct html_report, html_report__free)
#define _html_report_ __cleanup(html_report__free_p)

#endif /* QPROF_EXPORT_HTML_REPORT_H */
