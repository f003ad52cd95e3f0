/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bounds how long the processes of one user can make a recording wait: the recording of all others
 * waits, too. Root and the invoker have no bound.
 */
#ifndef QPROF_CAPTURE_WAIT_QUOTA_H
#define QPROF_CAPTURE_WAIT_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Users with an account of their own. All others share one. */
#define WAIT_QUOTA_USERS 64
/* A user is given up for good after this number of questions without an answer. */
#define WAIT_QUOTA_STRIKES 3
/*
 * Answers that come late may take one part in WAIT_QUOTA_SHARE of the recording's time for each
 * user, and WAIT_QUOTA_WAIT_NS at once. An answer in less than WAIT_QUOTA_FREE_NS is free: a longer
 * one is rare unless the machine is busy.
 */
#define WAIT_QUOTA_SHARE   20
#define WAIT_QUOTA_WAIT_NS 1500000000ull
#define WAIT_QUOTA_FREE_NS 50000000ull
/* One answer costs no more than this: we may have been stopped meanwhile. */
#define WAIT_QUOTA_ANSWER_NS 500000000ull

struct wait_quota {
	uid_t invoker;
	struct {
		uid_t uid;
		unsigned int strikes;
		uint64_t waited_ns; /* for late answers; less with time */
		uint64_t asked_ns;  /* the last time */
		bool warned;
	} users[WAIT_QUOTA_USERS + 1];
	unsigned int n;
};

/* False: nothing more may be asked about this user's processes now. Times are CLOCK_MONOTONIC. */
bool wait_quota__is_left(const struct wait_quota *p, uid_t uid, uint64_t now_ns);

/* An answer came. Prints a warning when no patience with a user is left for the first time. */
void wait_quota__waited(struct wait_quota *p, uid_t uid, uint64_t begin_ns, uint64_t end_ns);

/* No answer came in time. The last one for a user prints a warning. */
void wait_quota__strike(struct wait_quota *p, uid_t uid, uint64_t now_ns);

#endif /* QPROF_CAPTURE_WAIT_QUOTA_H */
