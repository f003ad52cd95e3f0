/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What /proc and /sys tell about the kernel and about ourselves. Nothing is tried or judged. */
#ifndef QPROF_DOCTOR_FACTS_H
#define QPROF_DOCTOR_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FACTS_UNKNOWN INT_MIN

struct doctor_facts {
	char release[64]; /* "" if unknown, as the other texts */
	bool btf;	  /* /sys/kernel/btf/vmlinux can be read */
	bool first_pid_ns;
	int perf_event_paranoid; /* or FACTS_UNKNOWN, as the other numbers */
	int unprivileged_bpf_disabled;
	char lockdown[32];     /* the mode in force: "none", "integrity", "confidentiality" */
	char lsm[128];	       /* "capability,apparmor,..." */
	uint64_t capabilities; /* effective, a mask */
	bool no_new_privs;
	bool seccomp;	     /* a filter is in force */
	bool file_has_caps;  /* our executable has file capabilities ... */
	bool file_is_nosuid; /* ... and is where the kernel ignores them */
	char exe[PATH_MAX];  /* of our executable; "" if unknown */
};

/* `root` is put before every path: "" but for tests. */
void facts__read(const char *root, struct doctor_facts *facts);

#endif /* QPROF_DOCTOR_FACTS_H */
