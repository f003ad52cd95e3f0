/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Crates that cargo built again, and why: those of one reason together, and last those that only
 * depend on others. Of a part of a build nothing is printed, as it is of the whole.
 */
#ifndef QPROF_VIEW_REBUILT_H
#define QPROF_VIEW_REBUILT_H

#include "view/build.h"
#include "view/columns.h"

/* Lines of the report's head, and how many they are in *lines. 0 or -ENOMEM. */
int rebuilt_text(FILE *out, const struct build_view *v, size_t *lines);

/* Items of a list. 0 or -ENOMEM. */
int rebuilt_markdown(FILE *out, const struct build_view *v);

/* The member "rebuilt" of a build. */
void rebuilt_columns(struct columns *c, const struct build_view *v);

#endif /* QPROF_VIEW_REBUILT_H */
