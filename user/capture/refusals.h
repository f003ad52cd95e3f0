/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counts the compilers that are refused because of an act of their user: one line for each user. */
#ifndef QPROF_CAPTURE_REFUSALS_H
#define QPROF_CAPTURE_REFUSALS_H

#include <stdint.h>
#include <sys/types.h>

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

#endif /* QPROF_CAPTURE_REFUSALS_H */
