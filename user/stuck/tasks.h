/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the threads of a process from /proc. */
#ifndef QPROF_STUCK_TASKS_H
#define QPROF_STUCK_TASKS_H

#include <stdint.h>
#include <sys/types.h>

#define TASK_NAME_MAX 16

struct task {
	pid_t tid;
	char name[TASK_NAME_MAX];
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

/* Fields of a line of /proc/PID/stat. 0 or -EBADMSG. For tasks__read() and its test. */
struct task_stat {
	char name[TASK_NAME_MAX];
	char state;
	uint64_t cpu_ticks;
	uint64_t start_ticks; /* since boot */
};
int task_stat__parse(struct task_stat *s, const char *line);

void tasks__clear(struct tasks *t);
#define _tasks_ __cleanup(tasks__clear)

#endif /* QPROF_STUCK_TASKS_H */
