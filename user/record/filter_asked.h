/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_RECORD_FILTER_ASKED_H
#define QPROF_RECORD_FILTER_ASKED_H

#include "capture/filter.h"
#include "options/options.h"

/*
 * The events that the options ask for; a line names those that cannot be recorded. 0, or a negative
 * errno after an error line: -EINVAL if nothing else was asked for.
 */
int filter_asked(const struct cli_record_options *o, struct filter **out);

#endif /* QPROF_RECORD_FILTER_ASKED_H */
