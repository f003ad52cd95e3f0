/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the reason why the kernel refuses a perf event, if it can be proven, and the remedy.
 *
 * Level 3 of perf_event_paranoid is Debian's own: it reserves all perf events for CAP_SYS_ADMIN.
 * Ubuntu has a level 4, which CAP_PERFMON passes.
 */
#ifndef QPROF_CAPTURE_PERF_REFUSAL_H
#define QPROF_CAPTURE_PERF_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_PARANOID_UNKNOWN INT32_MIN

struct perf_refusal {
	int err;	       /* of perf_event_open(2), or of mmap(2) on it: a negative errno */
	int paranoid;	       /* kernel.perf_event_paranoid, or PERF_PARANOID_UNKNOWN */
	uint64_t capabilities; /* effective, a mask */
	bool filtered;	       /* a filter in front of the kernel blocks perf_event_open(2) */
};

/* Read the limits that apply to this process; `err` as above. */
void perf_refusal__find(int err, struct perf_refusal *r);

#define PERF_REFUSAL_MAX 192 /* bytes that are enough for a cause */

/* Write the cause to `buf`: the text of the errno if no limit explains it. */
const char *perf_refusal__why(const struct perf_refusal *r, char *buf, size_t size);

/* The remedy, a sentence without its full stop; NULL if none is known. */
const char *perf_refusal__fix(const struct perf_refusal *r);

#endif /* QPROF_CAPTURE_PERF_REFUSAL_H */
