/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which capability is missing, and what to do about it. */
#ifndef QPROF_CAPTURE_PRIVILEGE_H
#define QPROF_CAPTURE_PRIVILEGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Write the names of the capabilities that attaching needs and `effective` (a CapEff mask) lacks,
 * comma-separated, to `buf`. Perf-event probes need CAP_SYS_ADMIN. Returns how many are missing.
 */
int privilege_missing(uint64_t effective, int perf_events, char *buf, size_t size);

/* Our own CapEff mask; 0 if it cannot be read. */
uint64_t privilege_effective(void);

/* Print the line for an attach or a load that the kernel refused with EPERM or EACCES. */
void privilege_explain(const char *what, int perf_events);

#endif /* QPROF_CAPTURE_PRIVILEGE_H */
