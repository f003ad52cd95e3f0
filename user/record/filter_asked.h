/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a recording takes, by what its user asked for: events, and samples. */
#ifndef QPROF_RECORD_FILTER_ASKED_H
#define QPROF_RECORD_FILTER_ASKED_H

#include "capture/filter.h"
#include "capture/sampling_options.h"
#include "options/options.h"

/*
 * The events that the options ask for; a line names those that cannot be recorded. 0, or a negative
 * errno after an error line: -EINVAL if nothing else was asked for.
 */
int filter_asked(const struct cli_record_options *o, struct filter **out);

/*
 * Whether samples show the intervals that --slow asks for: those of two periods and more. False
 * without --slow.
 */
bool samples_show_slow(const struct cli_record_options *o);

/* Samples have the times of queries without probes, and show what LLVM does. */
struct sampling_options samples_asked(const struct cli_record_options *o,
				      const struct filter *filter);

/*
 * Without the rights for the kernel half a command, and processes of one's own, are read from
 * outside (capture/outside.h), unless something is asked for that only probes or stacks show.
 */
bool outside_asked(const struct cli_record_options *o);

#endif /* QPROF_RECORD_FILTER_ASKED_H */
