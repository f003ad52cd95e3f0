/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The traces that one word of the command line stands for. */
#ifndef QPROF_CLI_TRACE_LIST_H
#define QPROF_CLI_TRACE_LIST_H

#include <stdint.h>

#include "base/cleanup.h"

struct trace_list {
	char **paths;
	uint32_t n;
	uint32_t capacity;
};

/*
 * A file; else, a directory: its *.qpt, by name; else files separated by commas, as not to depend
 * on a shell's globs. Files that do not exist are found when they are opened. Negative errno after
 * an error line: -ENOENT for a directory without traces, -EINVAL for an empty name.
 */
int trace_list__init(struct trace_list *list, const char *word);
void trace_list__clear(struct trace_list *list);
#define _trace_list_ __cleanup(trace_list__clear)

#endif /* QPROF_CLI_TRACE_LIST_H */
