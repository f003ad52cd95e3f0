/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_VIEW_HISTORY_LIST_VIEW_H
#define QPROF_VIEW_HISTORY_LIST_VIEW_H

#include <stdio.h>

#include "history/questions.h"

/* So many builds, the newest ones, are lines if the user does not say how many. */
#define HISTORY_LIST_SHOWN 40

/*
 * A line for each build, the newest last. `all`: so many there are, if these are the newest only;
 * else 0. `width`: columns, 0: unlimited. 0 or a negative errno.
 */
int history_list_text(FILE *out, const struct history_builds *builds, uint64_t all, size_t width);
/* Schema qprof-history/1: all columns. */
int history_list_json(FILE *out, const struct history_builds *builds);
int history_list_schema(FILE *out);

#endif /* QPROF_VIEW_HISTORY_LIST_VIEW_H */
