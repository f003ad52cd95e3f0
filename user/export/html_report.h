/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What `report --json --by crate` says of a trace, for a page to show the very same numbers. */
#ifndef QPROF_EXPORT_HTML_REPORT_H
#define QPROF_EXPORT_HTML_REPORT_H

#include <stdio.h>

#include "export/job.h"

struct html_report;

/* The job outlives it. 0, or -ENOMEM. */
int html_report__new(struct export_job *job, struct html_report **out);
/* Every item of the trace, as it was read. 0 or a negative errno. */
int html_report__item(struct html_report *h, const struct trace_item *item);
/* Once all items were. 0 or a negative errno. */
int html_report__print(struct html_report *h, FILE *to);
void html_report__free(struct html_report *h);
DEFINE_CLEANUP(struct html_report, html_report__free)
#define _html_report_ __cleanup(html_report__free_p)

#endif /* QPROF_EXPORT_HTML_REPORT_H */
