/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Recordings that run on this machine, and the traces they write. */
#ifndef QPROF_CAPTURE_RECORDINGS_H
#define QPROF_CAPTURE_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct recording {
	pid_t pid;
	char *file; /* the name of the trace */
	char *path; /* /proc/PID/fd/N: opens the trace even if it was renamed or removed */
};

struct recordings {
	struct recording *at;
	size_t n;
	size_t hidden; /* processes of the same program whose files we may not read */
};

/*
 * Find the recordings whose files we may read: all of them as root, else our own user's. Reads
 * `root`/proc; `root` is "" except in tests. 0 or -ENOMEM; `*r` needs clearing in any case.
 */
int recordings__find(const char *root, struct recordings *r);

/*
 * Let recordings__beside() of other recordings find this one, for as long as the descriptor is
 * open: a lock that anybody may share. -1: they do not find it.
 */
int recordings__mark(void);

/*
 * The number of other recordings of root and of our own user that have a mark, at `root` as above.
 * 0 or -ENOMEM.
 */
int recordings__beside(const char *root, uint32_t *n);

/* The process that writes the file at `path`, or 0. */
pid_t recordings__writer_of(const struct recordings *r, const char *path);

void recordings__clear(struct recordings *r);
#define _recordings_ __cleanup(recordings__clear)

#endif /* QPROF_CAPTURE_RECORDINGS_H */
