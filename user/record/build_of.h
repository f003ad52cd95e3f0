/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which build a compiler belongs to, from /proc: builds that run at once are told apart by it.
 *
 * The root of a build is the topmost cargo above the compiler: of those in the control group of the
 * nearest one, as a cargo outside a container may run an agent that runs containers. A compiler may
 * be in another group than its cargo. Without cargo, a build is what one session runs in one
 * control group.
 */
#ifndef QPROF_RECORD_BUILD_OF_H
#define QPROF_RECORD_BUILD_OF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct build_of {
	uint32_t user;	/* of the compiler */
	pid_t root;	/* a cargo; else the session; else the compiler itself */
	uint64_t ticks; /* when the root started: another process may get its number; 0: unknown */
	uint64_t group; /* process_cgroup() of the compiler, if the root is no cargo; else 0 */
};

/* Two compilers of one build have equal ones. */
struct build_of build_of(pid_t pid);

static inline bool build_of_is_same(const struct build_of *a, const struct build_of *b)
{
	return a->user == b->user && a->root == b->root && a->ticks == b->ticks &&
	       a->group == b->group;
}

/* False: its root has exited. */
bool build_of_runs(const struct build_of *b);

#endif /* QPROF_RECORD_BUILD_OF_H */
