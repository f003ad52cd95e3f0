/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_VIEW_CALL_TREE_TEXT_H
#define QPROF_VIEW_CALL_TREE_TEXT_H

#include "view/functions.h"

/*
 * Print the tree of the view, v->direction, a line for each node of v->least or more. Nodes that
 * only hand on to another one share its line: "a > b > c". 0 or -ENOMEM.
 */
int call_tree_text(FILE *out, const struct functions_view *v);

#endif /* QPROF_VIEW_CALL_TREE_TEXT_H */
