/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The traces that one argument of the command line names. */
#ifndef QPROF_OPTIONS_TRACE_LIST_H
#define QPROF_OPTIONS_TRACE_LIST_H

#include <stdint.h>

#include "base/cleanup.h"

struct trace_list {
	char **paths;
	uint32_t n;
	uint32_t capacity;
};

/*
 * `word` is a file; else a directory, which stands for its *.qpt files, sorted by name; else files
 * separated by commas, so that no shell glob is needed. A missing file is found when it is opened.
 * Negative errno after an error line: -ENOENT for a directory without traces, -EINVAL for an empty
 * name.
 */
int trace_list__init(struct trace_list *list, const char *word);
void trace_list__clear(struct trace_list *list);
#define _trace_list_ __cleanup(trace_list__clear)

#endif /* QPROF_OPTIONS_TRACE_LIST_H */
