/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The critical path of a build (analyze/critical_path.h), as text, Markdown and JSON. */
#ifndef QPROF_VIEW_PATH_VIEW_H
#define QPROF_VIEW_PATH_VIEW_H

#include "view/build_rows.h"
#include "view/columns.h"

/*
 * Print a table of the steps that would save most, of at most `fit` rows unless the view asks for
 * others, after an empty line. Nothing for fewer than two compiles. 0 or -ENOMEM.
 */
int path_table(FILE *out, enum columns_to to, size_t fit, const struct build_rows *r,
	       const struct build_view *v);

/* The member "critical_path" of the report's object "build". */
void path_columns(struct columns *c, const struct build_rows *r, const struct build_view *v);

#endif /* QPROF_VIEW_PATH_VIEW_H */
