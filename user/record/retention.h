/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which traces of a directory go, so that the others fit. No files and no clock here.
 *
 * Users share the room: the oldest finished trace goes of the user who has the most bytes. So a
 * user who fills the disk loses own traces first.
 */
#ifndef QPROF_RECORD_RETENTION_H
#define QPROF_RECORD_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept {
	uint32_t user;
	uint64_t bytes;
	uint64_t time_ns; /* of its last write, CLOCK_REALTIME */
	bool open;	  /* it is still written */
	bool cut;	  /* it is open, but nothing more is written to it */
};

/* 0: no limit. */
struct retention_limits {
	uint64_t age_ns;
	uint64_t bytes; /* of all traces together */
};

enum retention_action {
	RETENTION_ALL,
	RETENTION_REMOVE, /* a finished trace */
	RETENTION_CUT,	  /* write no more to an open one: no finished trace of that user is left */
};

/*
 * The next step, with traces[*index]. RETENTION_ALL also if nothing more can be done: all traces of
 * the user with the most bytes are cut.
 */
enum retention_action retention_decide(const struct kept *traces, size_t n,
				       const struct retention_limits *limits, uint64_t now_ns,
				       size_t *index);

#endif /* QPROF_RECORD_RETENTION_H */
