/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which samples a recording takes, by what its user asked for. */
#ifndef QPROF_RECORD_SAMPLES_ASKED_H
#define QPROF_RECORD_SAMPLES_ASKED_H

#include "budget/budget.h"
#include "capture/filter.h"
#include "capture/sampling_options.h"
#include "options/options.h"

/* `limit`: all zeroes without a budget. What has no probes for the sake of a budget is sampled. */
struct sampling_options samples_asked(const struct cli_record_options *o, struct budget_limit limit,
				      const struct filter *filter);

#endif /* QPROF_RECORD_SAMPLES_ASKED_H */
