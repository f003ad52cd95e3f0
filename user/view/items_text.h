/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of items or modules of `report --by item` and `--by module`. */
#ifndef QPROF_VIEW_ITEMS_TEXT_H
#define QPROF_VIEW_ITEMS_TEXT_H

#include "view/report_rows.h"

/* Print the first `n` rows within `width` columns; 0: unlimited. 0 or -ENOMEM. */
int items_text(FILE *out, const struct report_rows *r, size_t n, size_t width,
	       const struct trace_texts *names);

#endif /* QPROF_VIEW_ITEMS_TEXT_H */
