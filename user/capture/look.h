/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads, in a child process, data whose read may never return. A process can delay every read of
 * its /proc/PID/maps, auxv and cmdline. A FUSE server can delay every call on its paths. Some of
 * these waits ignore SIGKILL. A child that does not answer in time is killed, or left behind if it
 * survives that, and a new child replaces it. The child keeps only the capabilities of
 * privilege_to_look().
 *
 * The child also opens libraries. It refuses a library on a FUSE mount of another user
 * (plan/library/file.h): a later read of such a file can wait for ever, in any process.
 *
 * Every function returns within look_ns and the time of a fork. -ETIME: no answer in time, or the
 * user of the process has made us wait for too long before (patience.h). Nothing else is printed.
 */
#ifndef QPROF_CAPTURE_LOOK_H
#define QPROF_CAPTURE_LOOK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/arguments.h"
#include "capture/mapped_files.h"
#include "plan/library/file.h"

/*
 * A child that does not answer within this time is given up (0.5 s). Time in which the machine
 * stood still does not count. Tests make it longer.
 */
extern uint64_t look_ns;

/* Looks at a process that the user named. */
#define LOOK_TRIES 5

struct look;

/* A range of addresses; empty: unknown. */
struct look_range {
	uint64_t start;
	uint64_t end;
};

/*
 * False: a user's processes have made us wait too long (patience.h), so that every function below
 * returns -ETIME.
 */
bool look__may_ask(const struct look *l, uid_t user);

/* To be called early: the child is a copy of this process. Negative errno. */
int look__new(struct look **out);

/* The errno for a file of another user's FUSE server. No file system returns it. */
#define LOOK_SERVED EUSERS

/* CPU time of the child, in ns. */
uint64_t look__cpu_ns(const struct look *l);

/*
 * Open the library that a process has mapped: errors as plan_find__of_pid() and
 * library_file__try(), or -LOOK_SERVED. *loader is the range of the dynamic loader in the process,
 * if the process has a loader and only one thread; NULL: not wanted. A single thread that stops in
 * this range has not run any code that the loader is loading now.
 */
int look__library(struct look *l, pid_t pid, struct library_file **file, struct look_range *loader);

/*
 * The same for a process that the user named: on a busy machine the first looks may not be answered
 * in time. Takes up to LOOK_TRIES times as long.
 */
static inline int look__named_library(struct look *l, pid_t pid, struct library_file **file)
{
	int err = -ETIME;

	for (int i = 0; i < LOOK_TRIES && err == -ETIME; i++)
		err = look__library(l, pid, file, NULL);
	return err;
}

/* look__library(), but -EMLINK if the process has mapped several such files: one may be a decoy. */
int look__only_library(struct look *l, pid_t pid, struct library_file **file);

/* Open the library that library_beside() (programs.h) finds for the executable of a process. */
int look__library_beside(struct look *l, pid_t pid, const char *exe, struct library_file **file);

/* Open the file at `path` on behalf of a process. */
int look__file(struct look *l, pid_t pid, const char *path, struct library_file **file);

/* As mapped_files__read(). */
int look__mapped_files(struct look *l, pid_t pid, struct mapped_files *out);

/*
 * Open the file of a mapping that look__mapped_files() has found. -ESTALE: the process has mapped
 * another one there by now; or -LOOK_SERVED.
 */
int look__mapped_file(struct look *l, pid_t pid, const struct mapped_files *all,
		      const struct mapped_file *m, struct library_file **file);

/* As arguments__read(), whose errors have none. */
int look__arguments(struct look *l, pid_t pid, struct arguments *out);

/* As process_variable(); "" without an answer. */
void look__variable(struct look *l, pid_t pid, const char *name, char *buf, size_t size);

/* Ranges of one look at memory, and the bytes of all together. */
#define LOOK_RANGES_MAX 64
#define LOOK_MEMORY_MAX 65536

struct look_memory {
	uint64_t addr;
	uint32_t size;
};

/*
 * Copy ranges of a process's memory, one behind the other. -EFAULT if any of them cannot be read,
 * or not by us; then nothing is copied. -E2BIG past the limits.
 */
int look__memory(struct look *l, pid_t pid, const struct look_memory *ranges, uint32_t n,
		 uint8_t *bytes);

void look__free(struct look *l);
DEFINE_CLEANUP(struct look, look__free)
#define _look_ __cleanup(look__free_p)

#endif /* QPROF_CAPTURE_LOOK_H */
