/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_VIEW_MARKDOWN_H
#define QPROF_VIEW_MARKDOWN_H

#include <stdio.h>

/*
 * Print a name as a code span that is safe in a table: a bar would end the cell, and a backtick the
 * span. Characters that cannot be printed are replaced. 0 or -ENOMEM.
 */
int markdown_code(FILE *out, const char *text);

#endif /* QPROF_VIEW_MARKDOWN_H */
