/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The files of a spool (history/spool.h) by name: which there are, and which of them are ours. */
#ifndef QPROF_HISTORY_SPOOL_FILES_H
#define QPROF_HISTORY_SPOOL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SPOOL_SUFFIX	".jsonl"
#define SPOOL_DAMAGED	".damaged"
#define SPOOL_REFUSED	".refused"
#define SPOOL_UNWRITTEN ".unwritten-"

/* Names that begin with a time, in order: the oldest first. */
struct spool_files {
	char **names;
	uint32_t n;
	uint32_t capacity;
	uint64_t bytes; /* of all */
};

/* Also removes what a killed writer left. Negative errno. */
int spool_files__list(int dir, struct spool_files *f);

/* Whether it is a build that waits: not one that was set aside. */
bool spool_files__waits(const char *name);

/* A file that is locked, or -1: it is gone, or another process has locked it. */
int spool_files__lock(int dir, const char *name);

void spool_files__clear(struct spool_files *f);
#define _spool_files_ __cleanup(spool_files__clear)

#endif /* QPROF_HISTORY_SPOOL_FILES_H */
