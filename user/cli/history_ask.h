/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Code that the commands share which ask a history. */
#ifndef QPROF_CLI_HISTORY_ASK_H
#define QPROF_CLI_HISTORY_ASK_H

#include "history/questions.h"
#include "options/options.h"

struct history_filter history_filter_of(const struct cli_builds *b);

/*
 * The exit status of printing: `err` of a view, whose errors other than those of standard output
 * are printed; EXIT_CODE_OK of 0.
 */
int history_printed(int err);

#endif /* QPROF_CLI_HISTORY_ASK_H */
