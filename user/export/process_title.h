/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A short title for a process, of one or two words. */
#ifndef QPROF_EXPORT_PROCESS_TITLE_H
#define QPROF_EXPORT_PROCESS_TITLE_H

#include "trace/trace.h"

/*
 * compile_name() and the pid, "regex_syntax (4711)". The caller frees it; NULL: no memory. Not
 * escaped.
 */
char *process_title(const struct trace_process *p);

#endif /* QPROF_EXPORT_PROCESS_TITLE_H */
