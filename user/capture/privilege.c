// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/privilege.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"

/* In linux/capability.h since 5.8, which is newer than some build machines. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

static int has(uint64_t effective, int cap)
{
	return (effective >> cap & 1) || (effective >> CAP_SYS_ADMIN & 1);
}

static void add(char *buf, size_t size, const char *name)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s", len ? ", " : "", name);
}

int privilege_missing(uint64_t effective, int perf_events, char *buf, size_t size)
{
	int n = 0;

	buf[0] = '\0';
	if (perf_events) {
		if (has(effective, CAP_SYS_ADMIN))
			return 0;
		add(buf, size, "CAP_SYS_ADMIN");
		return 1;
	}
	if (!has(effective, CAP_BPF)) {
		add(buf, size, "CAP_BPF");
		n++;
	}
	if (!has(effective, CAP_PERFMON)) {
		add(buf, size, "CAP_PERFMON");
		n++;
	}
	return n;
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

void privilege_explain(const char *what, int perf_events)
{
	char missing[128];

	if (privilege_missing(privilege_effective(), perf_events, missing, sizeof(missing)))
		diag_error("cannot %s: missing %s; run it with sudo, or see "
			   "\"qprof-bpf doctor\"",
			   what, missing);
	else
		diag_error("cannot %s: the kernel refused although the capabilities are there; "
			   "a container's seccomp profile or kernel lockdown forbids bpf(2). See "
			   "\"qprof-bpf doctor\"",
			   what);
}
