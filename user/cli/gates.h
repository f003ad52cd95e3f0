/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The limits of --fail-above, of traces and of the builds of a history. */
#ifndef QPROF_CLI_GATES_H
#define QPROF_CLI_GATES_H

#include "options/options.h"
#include "view/diff.h"

/* As compare__sum(): the sum of the rows that are picked; their number, or -ENOMEM. */
typedef int gates_sum(void *ctx, compare_pick *pick, const void *pick_ctx, struct compare_row *out);

/*
 * Fill in a gate for each limit, and judge by its row alone. `names`: the command that prints the
 * names of rows. 0, or -ENOENT and -ENOMEM after an error line.
 */
int gates__judge(const struct cli_gates *from, const struct compare_rules *rules, gates_sum *sum,
		 void *ctx, const char *names, struct diff_gate *gates);

/*
 * Decide on the limits, which are `gates` of the view, and on the exit status by them. `whole`: no
 * trace is known to be incomplete.
 */
void gates__decide(bool whole, struct diff_view *v, struct diff_gate *gates);

/* Print an error line if the status is that of no verdict. */
void gates__report_doubts(const struct diff_view *v);

#endif /* QPROF_CLI_GATES_H */
