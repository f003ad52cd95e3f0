/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads /proc: the processes that run, and their properties. Some of these reads need the memory of
 * the process, which can delay them: user/capture/broker.h has a child make those.
 *
 * The other two files recognize what was read: programs.c the programs of a toolchain, and
 * command_line.c the options of a compiler.
 */
#ifndef QPROF_PROC_PROCESSES_H
#define QPROF_PROC_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct process_list {
	pid_t *pids;
	size_t n;
};

/* A file of /proc/PID, such as "maps", for reading; NULL, with errno, if it cannot be opened. */
FILE *process_file(pid_t pid, const char *name);

/* All processes of the machine; the caller clears the list. */
int process_list__all(struct process_list *list);

/* `root` first, then its running descendants; -ESRCH if it is gone. The caller clears the list. */
int process_list__descendants(pid_t root, struct process_list *list);
void process_list__clear(struct process_list *list);

/* False if it is gone, or has exited and was not waited for yet. */
bool process_is_running(pid_t pid);

#define PROCESS_NAME_MAX 16

/* Of a process, or of one of its threads. */
struct process_stat {
	char name[PROCESS_NAME_MAX];
	char state; /* R, S, D, T, ... */
	pid_t parent, session;
	uint64_t cpu_ticks, start_ticks; /* clock ticks of CPU time; since boot */
};

/* From /proc/PID/stat, or that of thread `tid` unless it is 0. False if it is gone. */
bool process_stat(pid_t pid, pid_t tid, struct process_stat *s);

/* The same of such a text. */
bool process_stat__parse(struct process_stat *s, const char *text);

/*
 * The session of a process, 0 if it has none here, and when it started: clock ticks since boot.
 * False if it is gone.
 */
bool process_session(pid_t pid, pid_t *session, uint64_t *start_ticks);

/*
 * A number for the control groups that a process is in, the same for equal ones; 0 if it is gone.
 */
uint64_t process_cgroup(pid_t pid);

/* The parent of a process, or 0. */
pid_t process_parent(pid_t pid);

/* How many threads it has; 0 if unknown. */
unsigned int process_threads(pid_t pid);

/* The kernel's "nobody": has no rights, so a process that is gone counts as foreign. */
#define PROCESS_USER_UNKNOWN 65534

/* The ids of its first threads, at most `most`; how many they are, 0 if it is gone. */
size_t process_tids(pid_t pid, pid_t *tids, size_t most);

/* The real user, or PROCESS_USER_UNKNOWN. (Root may own the process's directory.) */
uid_t process_uid(pid_t pid);

/* Raw arguments, NUL-separated, at most `size` bytes; their length, 0 if unknown. */
size_t process_arguments(pid_t pid, char *buf, size_t size);

/*
 * The value of a variable in the environment that the process was executed with, cut to `size`.
 * Returns its length, 0 if there is none. No end byte is written.
 */
size_t process_variable(pid_t pid, const char *name, char *buf, size_t size);

/* Its executable, by the path that it had if it was deleted; or NULL. To be freed. */
char *process_executable(pid_t pid);

/* Its working directory, or NULL. To be freed. */
char *process_cwd(pid_t pid);

/* Its short name, for messages; "?" if unknown. */
void process_name(pid_t pid, char *buf, size_t size);

#endif /* QPROF_PROC_PROCESSES_H */
