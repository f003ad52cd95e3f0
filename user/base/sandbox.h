/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A child that parses what other users wrote may be taken over by them. A sandbox leaves it only
 * what its work needs, whatever its user id is: under root that stays 0, as any process of a user
 * like "nobody" could stop or kill the child.
 */
#ifndef QPROF_BASE_SANDBOX_H
#define QPROF_BASE_SANDBOX_H

#include <stdint.h>

enum sandbox {
	SANDBOX_PARSE, /* memory, and the descriptors that are open */
	/* Also: open files for reading, read the memory of processes, pass descriptors on. */
	SANDBOX_LOOK,
};

/*
 * Enter it for good: no capability but those in `keep` (base/rights.h), no access by other
 * processes of our user, and an error for every system call that is not on a list. There is no call
 * among them that writes to a file, signals, traces, executes, or starts a process or a connection.
 * Negative errno: the process must not go on.
 */
int sandbox__enter(enum sandbox kind, uint64_t keep);

#endif /* QPROF_BASE_SANDBOX_H */
