/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Recordings that are in the kernel already: those that run, and what ended ones left. */
#ifndef QPROF_DOCTOR_CAPTURES_H
#define QPROF_DOCTOR_CAPTURES_H

#include <stdint.h>
#include <sys/types.h>

#define CAPTURES_MOST 64

struct captures {
	int err;       /* why they could not be told, and then nothing else is */
	uint32_t n;    /* recordings whose programs are loaded */
	uint32_t held; /* of these, those that a process holds; the others wait for the kernel */
	pid_t pid;     /* one of those processes */
};

/* Of all users, before anything of our own is loaded. `err` is -EPERM without CAP_SYS_ADMIN. */
void captures__find(struct captures *c);

/* Who holds the programs with these ids, as `root`/proc tells; "" but for tests. */
void captures__find_holders(const char *root, const uint32_t *ids, uint32_t n, struct captures *c);

#endif /* QPROF_DOCTOR_CAPTURES_H */
