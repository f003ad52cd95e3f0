/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Code that `history diff` and `history check` share: compare the sides, judge limits, print. */
#ifndef QPROF_CLI_HISTORY_COMPARE_H
#define QPROF_CLI_HISTORY_COMPARE_H

#include "history/sides.h"
#include "options/options.h"

struct history_compare {
	const char *store;
	unsigned int metric; /* enum cli_history_metric */
	struct cli_threshold min;
	const struct cli_gates *gates; /* NULL: none */
	bool is_series;		       /* the base builds are one, as of a branch */
	size_t top;
	bool json, markdown, wide;
	/* Fill in the sides of the open store. */
	int (*ask)(struct store *s, const void *options, struct sides *out);
	const void *options;
};

/* The exit status. */
int history_compare(const struct history_compare *h);

#endif /* QPROF_CLI_HISTORY_COMPARE_H */
