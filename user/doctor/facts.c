// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The kernel's PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"
/* PROC_USER_INIT_INO. */
#define FIRST_USER_NAMESPACE "user:[4026531837]"

struct place {
	char path[PATH_MAX];
};

static const char *at(struct place *p, const char *root, const char *path)
{
	snprintf(p->path, sizeof(p->path), "%s%s", root, path);
	return p->path;
}

/* Read the first line; "" if there is none. */
static void read_line(const char *root, const char *path, char *text, size_t size)
{
	struct place p;
	_fclose_ FILE *f = fopen(at(&p, root, path), "re");

	*text = '\0';
	if (f && fgets(text, (int)size, f))
		text[strcspn(text, "\n")] = '\0';
}

static int read_number(const char *root, const char *path)
{
	char text[32];
	int n;

	read_line(root, path, text, sizeof(text));
	return sscanf(text, "%d", &n) == 1 ? n : FACTS_UNKNOWN;
}

/* The mode in brackets, as in "none [integrity] confidentiality". */
static void read_lockdown(const char *root, char text[32])
{
	char line[128], *start;

	read_line(root, "/sys/kernel/security/lockdown", line, sizeof(line));
	start = strchr(line, '[');
	snprintf(text, 32, "%.*s", start ? (int)strcspn(start + 1, "]") : 0,
		 start ? start + 1 : "");
}

static void read_status(const char *root, struct doctor_facts *facts)
{
	struct place p;
	_fclose_ FILE *f = fopen(at(&p, root, "/proc/self/status"), "re");
	char line[256];
	int n;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "CapEff: %" SCNx64, &facts->capabilities) == 1)
			continue;
		if (sscanf(line, "NoNewPrivs: %d", &n) == 1)
			facts->no_new_privs = n;
		else if (sscanf(line, "Seccomp: %d", &n) == 1)
			facts->seccomp = n;
	}
}

static void read_executable(const char *root, struct doctor_facts *facts)
{
	struct place p;
	const char *self = at(&p, root, "/proc/self/exe");
	struct statvfs fs;
	ssize_t n = readlink(self, facts->exe, sizeof(facts->exe) - 1);

	facts->exe[n > 0 ? n : 0] = '\0';
	facts->file_has_caps = getxattr(self, "security.capability", NULL, 0) > 0;
	facts->file_is_nosuid = !statvfs(self, &fs) && (fs.f_flag & ST_NOSUID);
}

/* True also if the namespace is unknown. */
static bool is_namespace(const char *root, const char *link, const char *name)
{
	struct place p;
	char ns[64];
	ssize_t n = readlink(at(&p, root, link), ns, sizeof(ns) - 1);

	ns[n > 0 ? n : 0] = '\0';
	return n <= 0 || !strcmp(ns, name);
}

void facts__read(const char *root, struct doctor_facts *facts)
{
	struct place p;

	*facts = (struct doctor_facts){0};
	read_line(root, "/proc/sys/kernel/osrelease", facts->release, sizeof(facts->release));
	facts->btf = !access(at(&p, root, "/sys/kernel/btf/vmlinux"), R_OK);
	facts->first_pid_ns = is_namespace(root, "/proc/self/ns/pid", FIRST_PID_NAMESPACE);
	facts->first_user_ns = is_namespace(root, "/proc/self/ns/user", FIRST_USER_NAMESPACE);
	facts->perf_event_paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid");
	facts->unprivileged_bpf_disabled =
		read_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
	read_lockdown(root, facts->lockdown);
	read_line(root, "/sys/kernel/security/lsm", facts->lsm, sizeof(facts->lsm));
	read_status(root, facts);
	read_executable(root, facts);
}
