/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a process is called where there is room for one word or two. */
#ifndef QPROF_EXPORT_PROCESS_TITLE_H
#define QPROF_EXPORT_PROCESS_TITLE_H

#include "trace/trace.h"

/*
 * Its crate and pid, "regex_syntax (4711)"; without a crate the program's name instead, or
 * "process". NULL without memory; else the caller's to free. Not escaped.
 */
char *process_title(const struct trace_process *p);

#endif /* QPROF_EXPORT_PROCESS_TITLE_H */
