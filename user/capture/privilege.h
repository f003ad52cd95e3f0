/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The capabilities of a recording: finds and explains missing ones, and drops the ones that a
 * recording does not need once it has begun.
 */
#ifndef QPROF_CAPTURE_PRIVILEGE_H
#define QPROF_CAPTURE_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the names of all capabilities that a recording needs. */
#define PRIVILEGE_NAMES_MAX 128

/*
 * Write the names of the capabilities that attaching needs and `effective` (a CapEff mask) lacks,
 * comma-separated, to `buf`. Perf-event probes need CAP_SYS_ADMIN. Returns how many are missing.
 */
int privilege_missing(uint64_t effective, int perf_events, char *buf, size_t size);

/* Our own CapEff mask; 0 if it cannot be read. */
uint64_t privilege_effective(void);

enum privilege_refusal {
	PRIVILEGE_GRANTED,   /* as far as can be known before it is tried */
	PRIVILEGE_MISSING,   /* capabilities, which sudo has */
	PRIVILEGE_CONTAINER, /* BPF takes the first user namespace, and our programs the first
				numbers of processes: no right within helps */
};

/* Whether the kernel half cannot be used here; `why` has room for a clause that gives the reason.
 */
enum privilege_refusal privilege_refused(char why[PRIVILEGE_NAMES_MAX]);

/* Whether processes have the numbers of the host; also true if that is unknown. */
bool privilege_first_numbers(void);

/*
 * The capabilities that a recording uses after set-up: to attach to libraries that come later
 * (CAP_SYS_ADMIN with perf events), to read compilers and stop them by ptrace, to read their
 * libraries, to signal the command, to raise its limit of open files, to write files for the
 * invoker, and to open those that a library names as the library's owner.
 */
uint64_t privilege_to_record(bool perf_events, bool sudo);

/*
 * The subset of `permitted` that the child of broker.h uses: to read /proc files of other users'
 * processes (CAP_SYS_PTRACE), and to open their libraries, deleted ones too. Without CAP_SYS_PTRACE
 * the child keeps CAP_PERFMON, with which Linux 6.15 and later lets it read mappings.
 */
uint64_t privilege_to_look(uint64_t permitted);

/*
 * Set-up is over: give up the other capabilities in this thread, for good. A failure is a warning.
 * Where the kernel has only perf events, `perf_events` is assumed.
 */
void privilege_limit(bool perf_events);

/* Print an error line for an attach or a load that failed with EPERM or EACCES. */
void privilege_explain(const char *what, int perf_events);

#endif /* QPROF_CAPTURE_PRIVILEGE_H */
