/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Processes that had ended before the record of their mapping was read. Nothing follows a process
 * that has ended, so only the record of its exec, which may still be in the ring, shows whether it
 * is one to record.
 */
#ifndef QPROF_CAPTURE_ENDED_H
#define QPROF_CAPTURE_ENDED_H

#include "capture/execs.h"

/* The last ones, round and round. */
#define ENDED_KEPT 64

/* All zeroes: none. */
struct ended {
	struct {
		pid_t pid;
		struct mapped_library library;
		char *path; /* library.path */
	} items[ENDED_KEPT];
	uint32_t n;
};

/* Without memory it is forgotten. */
void ended__add(struct ended *e, pid_t pid, const struct mapped_library *library);

/*
 * The library that a process mapped after `time_ns`, CLOCK_MONOTONIC; NULL: none is known. An
 * earlier mapping is of another process with its number, or of what it executed before. Valid until
 * the next add.
 */
const struct mapped_library *ended__find(const struct ended *e, pid_t pid, uint64_t time_ns);

void ended__destroy(struct ended *e);

#endif /* QPROF_CAPTURE_ENDED_H */
