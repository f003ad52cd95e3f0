// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/privilege.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "base/rights.h"
#include "capture/uprobe_multi.h"

/* In linux/capability.h since 5.8, which is newer than some build machines. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
/* Since 5.9. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

int privilege_missing(uint64_t effective, int perf_events, char *buf, size_t size)
{
	bool bpf = effective >> CAP_BPF & 1, perfmon = effective >> CAP_PERFMON & 1;

	buf[0] = '\0';
	if (effective >> CAP_SYS_ADMIN & 1)
		return 0;
	if (perf_events) {
		snprintf(buf, size, "CAP_SYS_ADMIN");
		return 1;
	}
	snprintf(buf, size, "%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : ", ",
		 perfmon ? "" : "CAP_PERFMON");
	return !bpf + !perfmon;
}

uint64_t privilege_effective(void)
{
	_fclose_ FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	uint64_t mask;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %" SCNx64, &mask) == 1)
			return mask;
	return 0;
}

/* The numbers of these files are part of the kernel's interface. */
#define FIRST_USER_NAMESPACE 0xeffffffdu
#define FIRST_PID_NAMESPACE  0xeffffffcu

static bool is_first(const char *path, ino_t first)
{
	struct stat ns;

	return stat(path, &ns) || ns.st_ino == first;
}

bool privilege_first_numbers(void)
{
	return is_first("/proc/self/ns/pid", FIRST_PID_NAMESPACE);
}

enum privilege_refusal privilege_refused(char why[PRIVILEGE_NAMES_MAX])
{
	char missing[PRIVILEGE_NAMES_MAX - sizeof(" are missing")];
	bool users = is_first("/proc/self/ns/user", FIRST_USER_NAMESPACE);
	int n;

	if (!users || !privilege_first_numbers()) {
		snprintf(why, PRIVILEGE_NAMES_MAX, "this container has %s of its own",
			 users ? "process numbers" : "users");
		return PRIVILEGE_CONTAINER;
	}
	n = privilege_missing(privilege_effective(), 0, missing, sizeof(missing));
	snprintf(why, PRIVILEGE_NAMES_MAX, "%s %s missing", missing, n > 1 ? "are" : "is");
	return n ? PRIVILEGE_MISSING : PRIVILEGE_GRANTED;
}

uint64_t privilege_to_record(bool perf_events, bool sudo)
{
	uint64_t keep = RIGHTS_CAP(CAP_BPF) | RIGHTS_CAP(CAP_PERFMON) | RIGHTS_CAP(CAP_SYS_PTRACE) |
			RIGHTS_CAP(CAP_CHECKPOINT_RESTORE) | RIGHTS_CAP(CAP_DAC_READ_SEARCH) |
			RIGHTS_CAP(CAP_KILL) | RIGHTS_CAP(CAP_SYS_RESOURCE) |
			RIGHTS_CAP(CAP_SETUID) | RIGHTS_CAP(CAP_SETGID);

	if (perf_events || prctl(PR_CAPBSET_READ, CAP_CHECKPOINT_RESTORE) < 0)
		keep |= RIGHTS_CAP(CAP_SYS_ADMIN);
	/* Files written at the end belong to the invoker, or to root, which may write anywhere. */
	if (!sudo)
		keep |= RIGHTS_CAP(CAP_DAC_OVERRIDE);
	return keep;
}

uint64_t privilege_to_look(uint64_t permitted)
{
	const uint64_t trace = RIGHTS_CAP(CAP_SYS_PTRACE);
	uint64_t read = RIGHTS_CAP(CAP_DAC_READ_SEARCH) | RIGHTS_CAP(CAP_CHECKPOINT_RESTORE);

	read |= permitted & trace ? trace : RIGHTS_CAP(CAP_PERFMON);
	return permitted & read;
}

void privilege_limit(bool perf_events)
{
	_invoker_ struct invoker inv = {};
	bool perf = perf_events || !uprobe_multi_is_available();
	int err = invoker__get(&inv) ?: rights__limit(privilege_to_record(perf, inv.sudo));

	if (err)
		diag_warn("cannot give up the capabilities of set-up: %s; the recording goes on "
			  "with them",
			  strerror(-err));
}

void privilege_explain(const char *what, int perf_events)
{
	char missing[128];

	if (privilege_missing(privilege_effective(), perf_events, missing, sizeof(missing)))
		diag_error("cannot %s: missing %s; run it with sudo (of cargo: cargo qprof "
			   "--sudo build), or see \"qprof-bpf doctor\"",
			   what, missing);
	else
		diag_error("cannot %s: the kernel refused although the capabilities are there; "
			   "a container's seccomp profile or kernel lockdown forbids bpf(2). See "
			   "\"qprof-bpf doctor\"",
			   what);
}
