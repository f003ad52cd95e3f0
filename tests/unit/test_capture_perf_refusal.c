// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "capture/perf_refusal.h"

#include <linux/capability.h>

#include "../fixtures/output.h"

#define BPF_AND_PERFMON (UINT64_C(3) << 38)

static void says(const struct perf_refusal *r, const char *why, const char *fix)
{
	char buf[PERF_REFUSAL_MAX];

	assert_string_equal(perf_refusal__why(r, buf, sizeof(buf)), why);
	if (fix)
		assert_contains(perf_refusal__fix(r), fix);
	else
		assert_null(perf_refusal__fix(r));
}

TEST_CASE(a_paranoid_level_is_named)
{
	struct perf_refusal r = {.err = -EACCES, .paranoid = 3, .capabilities = BPF_AND_PERFMON};

	says(&r,
	     "the kernel refuses perf events: kernel.perf_event_paranoid is 3, which takes "
	     "CAP_SYS_ADMIN here",
	     "sysctl kernel.perf_event_paranoid=2");
}

/* CAP_PERFMON passes level 2, and CAP_SYS_ADMIN any level. */
TEST_CASE(a_level_that_refuses_nothing_is_not_blamed)
{
	struct perf_refusal r = {.err = -EACCES, .paranoid = 2, .capabilities = BPF_AND_PERFMON};

	says(&r, "a security module, such as SELinux, refuses perf events: Permission denied",
	     "policy");
	r.paranoid = 3;
	r.capabilities |= UINT64_C(1) << CAP_SYS_ADMIN;
	says(&r, "a security module, such as SELinux, refuses perf events: Permission denied",
	     "policy");
	r.capabilities = 0;
	r.paranoid = 2;
	says(&r, "the kernel refuses perf events: Permission denied", "sudo");
	r.capabilities = BPF_AND_PERFMON;
	r.err = -EINVAL;
	says(&r, "the kernel refuses perf events: Invalid argument", "sudo");
	r.capabilities |= UINT64_C(1) << CAP_SYS_ADMIN;
	says(&r, "the kernel refuses perf events: Invalid argument", NULL);
	r.err = -EMFILE;
	says(&r, "the kernel refuses perf events: Too many open files", "ulimit -n");
}

TEST_CASE(a_filter_comes_first)
{
	const struct perf_refusal r = {.err = -EACCES, .paranoid = 3, .filtered = true};

	says(&r, "a seccomp filter refuses perf_event_open(2): Permission denied",
	     "seccomp profile");
}

/* A filter can return the same error, but the kernel's file is there then. */
TEST_CASE(a_kernel_without_perf_events_is_named)
{
	struct perf_refusal r = {
		.err = -ENOSYS, .paranoid = PERF_PARANOID_UNKNOWN, .filtered = true};

	says(&r, "this kernel has no perf events", "CONFIG_PERF_EVENTS");
	r.paranoid = 2;
	says(&r, "a seccomp filter refuses perf_event_open(2): Function not implemented",
	     "seccomp profile");
}

TEST_MAIN(NULL, NULL)
