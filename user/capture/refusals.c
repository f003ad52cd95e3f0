// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/refusals.h"

#include <inttypes.h>

#include "base/diag.h"

static void print_first(uid_t uid, enum refusal why)
{
	if (why == REFUSAL_MANY)
		diag_warn(
			"compilers of user %u are missing: too many libraries of this user are in "
			"use at once",
			(unsigned int)uid);
	else
		diag_warn("compilers of user %u are missing: their library is on a FUSE mount of "
			  "an unprivileged user; use a toolchain on another file system",
			  (unsigned int)uid);
}

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
		print_first(uid, why);
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
