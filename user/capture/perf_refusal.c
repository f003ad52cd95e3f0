// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/perf_refusal.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/privilege.h"

/* Debian's first level that CAP_PERFMON does not pass. */
#define LEVEL_FOR_ADMIN 3

static int read_paranoid(void)
{
	_fclose_ FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level;

	return f && fscanf(f, "%d", &level) == 1 ? level : PERF_PARANOID_UNKNOWN;
}

/*
 * The kernel checks the flags before anything else, and these flags are invalid: any error except
 * EINVAL comes from a filter in front of the kernel.
 */
static bool is_filtered(void)
{
	return syscall(SYS_perf_event_open, NULL, -1, -1, -1, ~0ul) < 0 && errno != EINVAL;
}

void perf_refusal__find(int err, struct perf_refusal *r)
{
	*r = (struct perf_refusal){
		.err = err,
		.paranoid = read_paranoid(),
		.capabilities = privilege_effective(),
		.filtered = is_filtered(),
	};
}

/* The kernel's own file, which it has if it has perf events: perf_event_open(2) says so. */
static bool is_absent(const struct perf_refusal *r)
{
	return r->err == -ENOSYS && r->paranoid == PERF_PARANOID_UNKNOWN;
}

static bool is_paranoid(const struct perf_refusal *r)
{
	return r->err == -EACCES && r->paranoid >= LEVEL_FOR_ADMIN &&
	       !(r->capabilities >> CAP_SYS_ADMIN & 1);
}

/*
 * The kernel lets a process with one of these do all that we do, unless is_paranoid(). What still
 * denies access is asked by the kernel before and after: SELinux has a class for perf events, and
 * AppArmor can take a capability away.
 */
static bool is_by_module(const struct perf_refusal *r)
{
	const uint64_t enough = 1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN;

	return r->err == -EACCES && r->capabilities & enough && !is_paranoid(r);
}

const char *perf_refusal__why(const struct perf_refusal *r, char *buf, size_t size)
{
	if (is_absent(r))
		snprintf(buf, size, "this kernel has no perf events");
	else if (r->filtered)
		snprintf(buf, size, "a seccomp filter refuses perf_event_open(2): %s",
			 strerror(-r->err));
	else if (is_paranoid(r))
		snprintf(buf, size,
			 "the kernel refuses perf events: kernel.perf_event_paranoid is %d, which "
			 "takes CAP_SYS_ADMIN here",
			 r->paranoid);
	else if (is_by_module(r))
		snprintf(buf, size, "a security module, such as SELinux, refuses perf events: %s",
			 strerror(-r->err));
	else
		snprintf(buf, size, "the kernel refuses perf events: %s", strerror(-r->err));
	return buf;
}

const char *perf_refusal__fix(const struct perf_refusal *r)
{
	if (is_absent(r))
		return "use a kernel with CONFIG_PERF_EVENTS";
	if (r->filtered)
		return "allow perf_event_open(2) in the seccomp profile, or run it outside of the "
		       "container";
	if (is_paranoid(r))
		return "sudo sysctl kernel.perf_event_paranoid=2, or run it with sudo";
	if (is_by_module(r))
		return "allow perf events in the module's policy; the audit log names the rule";
	if (r->err == -EMFILE)
		return "raise the limit of open files (ulimit -n)";
	return r->capabilities >> CAP_SYS_ADMIN & 1 ? NULL : "run it with sudo";
}
