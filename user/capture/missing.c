// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/missing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "capture/broker.h"

/* A line names each missing compiler up to this number; the others are only counted. */
#define NAMED_MAX 10

/* ---- Refusals -------------------------------------------------------------------------------- */

void refusals__add(struct refusals *r, uid_t uid, enum refusal why)
{
	uint32_t i = 0;

	while (i < r->n && (r->users[i].uid != uid || r->users[i].why != why))
		i++;
	if (i == REFUSALS_USERS) {
		r->others++;
		return;
	}
	if (i == r->n) {
		r->users[r->n].uid = uid;
		r->users[r->n].why = why;
		r->users[r->n++].compilers = 0;
		if (why == REFUSAL_MANY)
			diag_warn("compilers of user %u are missing: too many libraries of this "
				  "user are in use at once",
				  (unsigned int)uid);
		else
			diag_warn("compilers of user %u are missing: their library is on a FUSE "
				  "mount of an unprivileged user; use a toolchain on another file "
				  "system",
				  (unsigned int)uid);
	}
	r->users[i].compilers++;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? " is" : "s are";
}

void refusals__print(const struct refusals *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		diag_warn("%" PRIu64 " compiler%s missing: user %u had %s", r->users[i].compilers,
			  plural(r->users[i].compilers), (unsigned int)r->users[i].uid,
			  r->users[i].why == REFUSAL_MANY ? "too many libraries"
							  : "the library on FUSE");
	if (r->others)
		diag_warn("%" PRIu64
			  " compiler%s missing for the same reason; other users started them",
			  r->others, plural(r->others));
}

/* ---- All of them ----------------------------------------------------------------------------- */

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
