/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Code that the commands share which ask a history. */
#ifndef QPROF_CLI_CMD_HISTORY_H
#define QPROF_CLI_CMD_HISTORY_H

#include "history/commit.h"
#include "history/questions.h"
#include "options/options.h"

struct history_filter history_filter_of(const struct cli_builds *b);

/*
 * The commit that a user means: `text` if the history has a build of a commit that begins so, else
 * what git in the current directory takes it for, which `found` keeps. NULL after an error line.
 */
const char *history_commit_of(struct store *s, const char *text, const char *workspace,
			      char found[COMMIT_MAX]);

/*
 * The exit status of printing: `err` of a view, whose errors other than those of standard output
 * are printed; EXIT_CODE_OK of 0.
 */
int history_printed(int err);

#endif /* QPROF_CLI_CMD_HISTORY_H */
