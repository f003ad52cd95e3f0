/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Processes that are running already, as /proc tells of them. */
#ifndef QPROF_CAPTURE_PROCESSES_H
#define QPROF_CAPTURE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process_list {
	pid_t *pids;
	size_t n;
};

/* All of the machine; the list is to be cleared. */
int process_list__all(struct process_list *list);

/* `root` first, then its running descendants. -ESRCH if it is gone; the list is to be cleared. */
int process_list__descendants(pid_t root, struct process_list *list);
void process_list__clear(struct process_list *list);

/* False if it is gone, or has exited and was not waited for yet. */
bool process_is_running(pid_t pid);

/* The parent of a process, or 0. */
pid_t process_parent(pid_t pid);

/* Its raw arguments, NUL-separated, at most `size` bytes; their length, 0 if unknown. */
size_t process_arguments(pid_t pid, char *buf, size_t size);

/* Its executable, or NULL. To be freed. */
char *process_executable(pid_t pid);

/* Its working directory, or NULL. To be freed. */
char *process_cwd(pid_t pid);

/* Its short name, for messages; "?" if unknown. */
void process_name(pid_t pid, char *buf, size_t size);

#endif /* QPROF_CAPTURE_PROCESSES_H */
