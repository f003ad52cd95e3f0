/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* From a trace to the rows that a history keeps of it: the numbers of its report. */
#ifndef QPROF_HISTORY_EXTRACT_H
#define QPROF_HISTORY_EXTRACT_H

#include "history/rows.h"
#include "trace/reader.h"

/*
 * Read a whole trace into `rows`, which were initialized. What the trace does not say stays
 * unknown: label, commit, branch, dirty, command.
 *
 * *directory: in which a crate of the workspace was compiled, else NULL. A text of the reader.
 *
 * -ENODATA: it has no compile; -E2BIG: the reader refused it; else as model__read().
 */
int history_extract(struct trace_reader *r, struct history_rows *rows, const char **directory);

#endif /* QPROF_HISTORY_EXTRACT_H */
