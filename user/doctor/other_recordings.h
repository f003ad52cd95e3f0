/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds recordings that are loaded in the kernel: running ones, and remains of ended ones. */
#ifndef QPROF_DOCTOR_OTHER_RECORDINGS_H
#define QPROF_DOCTOR_OTHER_RECORDINGS_H

#include <stdint.h>
#include <sys/types.h>

#define CAPTURES_MOST 64

struct other_recordings {
	int err;       /* why they could not be found; nothing else is valid then */
	uint32_t n;    /* recordings whose programs are loaded */
	uint32_t held; /* of these, still held by a process; the kernel frees the others */
	pid_t pid;     /* one of these processes */
};

/* Covers all users. Call it before loading BPF programs. `err` is -EPERM without CAP_SYS_ADMIN. */
void other_recordings__find(struct other_recordings *c);

/* Find the processes that hold programs with these ids open, by `root`/proc; "" except in tests. */
void other_recordings__find_holders(const char *root, const uint32_t *ids, uint32_t n,
				    struct other_recordings *c);

#endif /* QPROF_DOCTOR_OTHER_RECORDINGS_H */
