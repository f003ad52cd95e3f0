/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* With what every trace begins: which one it is, the machine, the recorded command. */
#ifndef QPROF_RECORD_TRACE_HEAD_H
#define QPROF_RECORD_TRACE_HEAD_H

#include <sys/utsname.h>

#include "base/cleanup.h"
#include "trace/trace.h"

/* Holds the texts of a struct trace_info. */
struct trace_head {
	struct utsname machine;
	char *command;
};

/*
 * The head of a new trace of this machine, without its times. `command` is
 * NULL-terminated, or NULL. The texts belong to `head`, which is destroyed in any case. 0 or
 * -ENOMEM.
 */
int trace_head__init(struct trace_head *head, char *const command[], struct trace_info *info);

void trace_head__destroy(struct trace_head *head);
#define _trace_head_ __cleanup(trace_head__destroy)

#endif /* QPROF_RECORD_TRACE_HEAD_H */
