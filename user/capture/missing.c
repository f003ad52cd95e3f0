// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/missing.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "capture/broker.h"

/* A line names each missing compiler up to this number; the others are only counted. */
#define NAMED_MAX 10

/* False: this compiler is counted already. */
static bool count(struct missing *m, pid_t pid)
{
	for (uint32_t i = 0; i < MISSING_KEPT; i++)
		if (m->pids[i] == pid)
			return false;
	m->pids[m->n++ % MISSING_KEPT] = pid;
	return true;
}

void missing__unread(struct missing *m, pid_t pid, const char *library)
{
	if (count(m, pid) && m->n <= NAMED_MAX)
		diag_warn("process %d used %s and exited, or could not be read, before it could be "
			  "followed: it is missing",
			  (int)pid, library);
}

void missing__unfollowed(struct missing *m, pid_t pid, const char *library, int err)
{
	if (!m->warned_no_follow)
		diag_warn("cannot follow process %d: %s; there may be more of its kind", (int)pid,
			  strerror(-err));
	m->warned_no_follow = true;
	missing__unread(m, pid, library);
}

void missing__ended(struct missing *m, pid_t pid)
{
	if (count(m, pid))
		diag_warn("process %d ended before its probes were there: it is missing", (int)pid);
}

void missing__refused(struct missing *m, pid_t pid, uid_t user, const char *library, int err)
{
	if (!count(m, pid))
		return;
	if (err == -EDQUOT)
		refusals__add(&m->refusals, user, REFUSAL_MANY);
	else if (err == -BROKER_SERVED)
		refusals__add(&m->refusals, user, REFUSAL_SERVED);
	else if (err == -ESRCH && m->n <= NAMED_MAX)
		diag_warn("process %d ended before the probes of %s were there: it is missing",
			  (int)pid, library);
	else if (m->n <= NAMED_MAX)
		diag_warn("process %d uses %s, which cannot be attached to: it is missing",
			  (int)pid, library);
}

void missing__late(struct missing *m, pid_t pid, const char *library)
{
	/* rustup's rustc executes the toolchain's: two execs, but one line for one compiler. */
	if (m->late_pid != pid && m->n_late++ < NAMED_MAX)
		diag_warn("process %d had begun before the probes of %s were there; its first "
			  "queries may be missing",
			  (int)pid, library);
	m->late_pid = pid;
}

void missing__print(const struct missing *m)
{
	if (m->n_late > NAMED_MAX)
		diag_warn("%u compilers had begun before the probes of their library were there",
			  m->n_late);
	refusals__print(&m->refusals);
	if (m->n > NAMED_MAX)
		diag_warn("%u compilers are missing", m->n);
}
