/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The reports that are made of sampled stacks: --functions, --tree, --memory, --waits. */
#ifndef QPROF_CLI_SAMPLED_REPORT_H
#define QPROF_CLI_SAMPLED_REPORT_H

#include <stdio.h>

#include "analyze/model.h"
#include "options/options.h"
#include "trace/reader.h"

static inline bool sampled_report_is_asked_for(const struct cli_report_options *o)
{
	return o->functions || o->tree || o->memory || o->waits;
}

/* The cause of the samples that they are made of: enum trace_sample_cause. */
enum trace_sample_cause sampled_report_cause(const struct cli_report_options *o);

/*
 * Print it from a model of the whole trace, with the stacks of the cause. The report is as wide as
 * `screen`. 0 or a negative errno: -ENODATA after an error line, others without one.
 */
int sampled_report_print(const struct cli_report_options *o, const struct model *m,
			 const struct trace_reader *r, FILE *out, FILE *screen);

#endif /* QPROF_CLI_SAMPLED_REPORT_H */
