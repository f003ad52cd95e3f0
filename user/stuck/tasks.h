/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the threads of a process from /proc. */
#ifndef QPROF_STUCK_TASKS_H
#define QPROF_STUCK_TASKS_H

#include <stdint.h>
#include <sys/types.h>

#include "proc/processes.h"

struct task {
	pid_t tid;
	char name[PROCESS_NAME_MAX];
	char state;	   /* as in /proc/PID/stat: R, S, D, T, ... */
	uint64_t cpu_ns;   /* exact to a hundredth of a second */
	const char *waits; /* the system call that it waits in, or NULL */
};

struct tasks {
	struct task *items; /* sorted by thread id */
	uint32_t n, capacity;
	uint64_t age_ns; /* since the process started */
};

/* -ESRCH if the process is gone. The caller clears `t` in any case. */
int tasks__read(struct tasks *t, pid_t pid);

void tasks__clear(struct tasks *t);
#define _tasks_ __cleanup(tasks__clear)

#endif /* QPROF_STUCK_TASKS_H */
