/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rights of this process beyond its invoker's (base/invoker.h): root's rights under sudo,
 * or the capabilities of the program file. A root login has no such rights: root is its invoker.
 *
 * Capabilities belong to threads. These functions change the calling one, and the threads that it
 * starts later.
 */
#ifndef QPROF_BASE_RIGHTS_H
#define QPROF_BASE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* A set of capabilities, as in CapEff of /proc/PID/status. */
#define RIGHTS_CAP(cap) (UINT64_C(1) << (cap))

/* The program file is set-user-ID or set-group-ID, and that changed an id of ours. */
bool rights__are_set_id(void);

/* The program file gave us some, or we have a capability, as an ambient one. */
bool rights__are_given(void);

/*
 * Give up all of these rights for good: user and groups become the invoker's, every capability
 * leaves every set, and no exec gives new ones. The whole environment is in force again, under
 * sudo as the invoker would have it. Without such rights only the environment changes. The process
 * must have one thread. Negative errno; the process must not go on then.
 */
int rights__drop(void);

/* rights__drop() has given up root's rights under sudo. For messages that explain a refusal. */
bool rights__dropped_root(void);

/*
 * Give up every capability that is not in `keep`, for good, also for an exec. A root login is
 * limited as well. Negative errno.
 */
int rights__limit(uint64_t keep);

/*
 * Give up every capability of the calling thread. A program that it executes gets none either,
 * also if root is its user, or its file has some. Negative errno.
 */
int rights__renounce(void);

#endif /* QPROF_BASE_RIGHTS_H */
