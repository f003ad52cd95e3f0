/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The cost of a recording, as text and in JSON. */
#ifndef QPROF_VIEW_COST_VIEW_H
#define QPROF_VIEW_COST_VIEW_H

#include <stdio.h>

#include "analyze/cost.h"
#include "view/columns.h"

/*
 * The words of one line, without its end: "recording added 620 ms of CPU, 22.1 % of what the
 * compilers used"; where much of it came once, with that part after `before`. False, and nothing is
 * printed: it is unknown.
 */
bool cost_text_line(FILE *out, const struct cost *c, const char *before);

/* `before`, and a line about other recordings that ran beside it; nothing if none did. */
void cost_text_beside(FILE *out, const struct cost *c, const char *before);
/* The same of CPU time that no look from outside has seen. */
void cost_text_unseen(FILE *out, const struct cost *c, const char *before);

/* A table of the parts. 0 or -ENOMEM. */
int cost_text(FILE *out, const struct cost *c);

/* The member "cost"; missing if `k` is NULL. */
void cost_columns(struct columns *c, const struct cost *k);

#endif /* QPROF_VIEW_COST_VIEW_H */
