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
 * Every function returns within broker_ns and the time of a fork. -ETIME: no answer in time, or the
 * user of the process has made us wait for too long before (wait_quota.h). Nothing else is printed.
 */
#ifndef QPROF_CAPTURE_BROKER_H
#define QPROF_CAPTURE_BROKER_H

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
extern uint64_t broker_ns;

/* Looks at a process that the user named. */
#define BROKER_TRIES 5

struct broker;

/* A range of addresses; empty: unknown. */
struct broker_range {
	uint64_t start;
	uint64_t end;
};

/*
 * False: a user's processes have made us wait too long (wait_quota.h), so that every function below
 * returns -ETIME.
 */
bool broker__may_ask(const struct broker *l, uid_t user);

/* To be called early: the child is a copy of this process. Negative errno. */
int broker__new(struct broker **out);

/* The errno for a file of another user's FUSE server. No file system returns it. */
#define BROKER_SERVED EUSERS

/* CPU time of the child, in ns. */
uint64_t broker__cpu_ns(const struct broker *l);

/*
 * Open the library that a process has mapped: errors as plan_find__of_pid() and
 * library_file__try(), or -BROKER_SERVED. *loader is the range of the dynamic loader in the
 * process, if the process has a loader and only one thread; NULL: not wanted. A single thread that
 * stops in this range has not run any code that the loader is loading now.
 */
int broker__library(struct broker *l, pid_t pid, struct library_file **file,
		    struct broker_range *loader);

/*
 * The same for a process that the user named: on a busy machine the first looks may not be answered
 * in time. Takes up to BROKER_TRIES times as long.
 */
static inline int broker__named_library(struct broker *l, pid_t pid, struct library_file **file)
{
	int err = -ETIME;

	for (int i = 0; i < BROKER_TRIES && err == -ETIME; i++)
		err = broker__library(l, pid, file, NULL);
	return err;
}

/* broker__library(), but -EMLINK if the process has mapped several such files: one may be a decoy.
 */
int broker__only_library(struct broker *l, pid_t pid, struct library_file **file);

/* Open the library that library_beside() (programs.h) finds for the executable of a process. */
int broker__library_beside(struct broker *l, pid_t pid, const char *exe,
			   struct library_file **file);

/* Open the file at `path` on behalf of a process. */
int broker__file(struct broker *l, pid_t pid, const char *path, struct library_file **file);

/* As mapped_files__read(). */
int broker__mapped_files(struct broker *l, pid_t pid, struct mapped_files *out);

/*
 * Open the file of a mapping that broker__mapped_files() has found. -ESTALE: the process has mapped
 * another one there by now; or -BROKER_SERVED.
 */
int broker__mapped_file(struct broker *l, pid_t pid, const struct mapped_files *all,
			const struct mapped_file *m, struct library_file **file);

/* As arguments__read(), whose errors have none. */
int broker__arguments(struct broker *l, pid_t pid, struct arguments *out);

/* As process_variable(); "" without an answer. */
void broker__variable(struct broker *l, pid_t pid, const char *name, char *buf, size_t size);

/* Ranges of one look at memory, and the bytes of all together. */
#define BROKER_RANGES_MAX 64
#define BROKER_MEMORY_MAX 65536

struct broker_memory {
	uint64_t addr;
	uint32_t size;
};

/*
 * Copy ranges of a process's memory, one behind the other. -EFAULT if any of them cannot be read,
 * or not by us; then nothing is copied. -E2BIG past the limits.
 */
int broker__memory(struct broker *l, pid_t pid, const struct broker_memory *ranges, uint32_t n,
		   uint8_t *bytes);

void broker__free(struct broker *l);
DEFINE_CLEANUP(struct broker, broker__free)
#define _broker_ __cleanup(broker__free_p)

#endif /* QPROF_CAPTURE_BROKER_H */
