/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compilers that are missing from a recording, or late: how many there are, and a line for each of
 * the first ones.
 */
#ifndef QPROF_CAPTURE_MISSING_H
#define QPROF_CAPTURE_MISSING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Compilers that are refused because of an act of their user: one line for each user. */

/* All further users share one counter. */
#define REFUSALS_USERS 32

enum refusal {
	REFUSAL_MANY,	/* too many libraries of the user are in use */
	REFUSAL_SERVED, /* the library is on a FUSE mount of another user */
};

struct refusals {
	struct {
		uid_t uid;
		enum refusal why;
		uint64_t compilers;
	} users[REFUSALS_USERS];
	uint32_t n;
	uint64_t others; /* compilers of other users */
};

/* Count one more compiler of a user. Prints a line for the first one. */
void refusals__add(struct refusals *r, uid_t uid, enum refusal why);

/* Print the number of compilers: a line for each user. */
void refusals__print(const struct refusals *r);

/* All missing compilers. */

/* The same compiler may be missed several times in a row: each segment of its library is mapped. */
#define MISSING_KEPT 64

/* All zeroes: there are none. */
struct missing {
	uint32_t n;
	pid_t pids[MISSING_KEPT]; /* the last ones, round and round */
	struct refusals refusals;
	bool warned_no_follow; /* a line has reported that a process cannot be followed */
	pid_t late_pid;	       /* the last process that a line reported as late */
	uint32_t n_late;
};

/* The process exited, or could not be read, before it could be followed. */
void missing__unread(struct missing *m, pid_t pid, const char *library);

/* The kernel half cannot follow the process, because of `err`. */
void missing__unfollowed(struct missing *m, pid_t pid, const char *library, int err);

/* The process ended before the probes that it needs were there. */
void missing__ended(struct missing *m, pid_t pid);

/*
 * The library cannot be attached to. `err`: -EDQUOT: its user has too many libraries;
 * -BROKER_SERVED; -ESRCH: the process ended before; any other: an earlier line explains it.
 */
void missing__refused(struct missing *m, pid_t pid, uid_t user, const char *library, int err);

/* The process is recorded, but its first queries may be missing. */
void missing__late(struct missing *m, pid_t pid, const char *library);

/* Print how many compilers were late, and how many are missing. */
void missing__print(const struct missing *m);

#endif /* QPROF_CAPTURE_MISSING_H */
