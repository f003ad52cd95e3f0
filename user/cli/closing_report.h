/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What is printed when a recording is over: what `report` would show of its trace. */
#ifndef QPROF_CLI_CLOSING_REPORT_H
#define QPROF_CLI_CLOSING_REPORT_H

#include "analyze/build.h"
#include "view/view.h"

/*
 * The report of a build where several crates were compiled, else the table of queries. `build` has
 * everything but its end, which is made here, with the summary's texts of its processes: these must
 * outlive it. 0 or a negative errno.
 */
int closing_report(FILE *out, struct build *build, const struct summary *s,
		   const struct trace_losses *losses, const struct view_names *names,
		   const struct report_options *opt);

#endif /* QPROF_CLI_CLOSING_REPORT_H */
