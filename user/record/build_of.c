// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/build_of.h"

#include <string.h>

#include "proc/processes.h"

/* Parents that are looked at: a process may change its parents meanwhile, and make a circle. */
#define PARENTS_MOST 64

static pid_t topmost_cargo(pid_t pid)
{
	uint64_t group = 0;
	pid_t found = 0;
	char name[32];

	for (int i = 0; i < PARENTS_MOST && pid > 1; i++) {
		process_name(pid, name, sizeof(name));
		if (!strcmp(name, "cargo")) {
			uint64_t its = process_cgroup(pid);

			if (found && its != group)
				break;
			group = its;
			found = pid;
		}
		pid = process_parent(pid);
	}
	return found;
}

struct build_of build_of(pid_t pid)
{
	struct build_of b = {.user = process_uid(pid), .root = topmost_cargo(pid)};
	pid_t session = 0;
	uint64_t ticks;

	if (!b.root)
		b.group = process_cgroup(pid);
	if (!b.root && process_session(pid, &session, &ticks))
		b.root = session;
	if (!b.root)
		b.root = pid;
	process_session(b.root, &session, &b.ticks);
	return b;
}

bool build_of_runs(const struct build_of *b)
{
	uint64_t ticks;
	pid_t session;

	return process_is_running(b->root) &&
	       (!b->ticks || (process_session(b->root, &session, &ticks) && ticks == b->ticks));
}
