// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/facts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
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

/* ---- Other recordings ------------------------------------------------------------------------ */

/* A program of bpf/qprof.bpf.c that every recording loads, with a name that nothing else uses. */
#define PROGRAM "qprof_site"

/* Find the ids of the programs of that name. Returns their number or a negative errno. */
static int find_programs(uint32_t ids[CAPTURES_MOST])
{
	uint32_t id = 0;
	int n = 0;

	while (n < CAPTURES_MOST && !bpf_prog_get_next_id(id, &id)) {
		_close_ int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		/* A program that is gone by now does not count. */
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, PROGRAM))
			ids[n++] = id;
	}
	return n < CAPTURES_MOST && errno != ENOENT ? -errno : n;
}

/* The program of a descriptor, or of its link, from the descriptor's file in /proc/PID/fdinfo. */
static uint32_t program_of(const char *path)
{
	_fclose_ FILE *f = fopen(path, "re");
	char line[128];
	uint32_t id;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "prog_id: %" SCNu32, &id) == 1)
			return id;
	return 0;
}

void other_recordings__find_holders(const char *root, const uint32_t *ids, uint32_t n,
				    struct other_recordings *c)
{
	_free_ char *pattern = NULL;
	pid_t holders[CAPTURES_MOST] = {0};
	glob_t found = {};

	*c = (struct other_recordings){.n = n};
	if (!n)
		return;
	if (asprintf(&pattern, "%s/proc/[0-9]*/fdinfo/*", root) < 0) {
		pattern = NULL;
		c->err = -ENOMEM;
		return;
	}
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		found.gl_pathc = 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		uint32_t id = program_of(found.gl_pathv[i]);

		for (uint32_t j = 0; id && j < n; j++)
			if (ids[j] == id)
				sscanf(found.gl_pathv[i] + strlen(root), "/proc/%d", &holders[j]);
	}
	globfree(&found);
	for (uint32_t j = 0; j < n; j++) {
		c->held += holders[j] != 0;
		c->pid = holders[j] ?: c->pid;
	}
}

void other_recordings__find(struct other_recordings *c)
{
	uint32_t ids[CAPTURES_MOST];
	int n = find_programs(ids);

	if (n < 0)
		*c = (struct other_recordings){.err = n};
	else
		other_recordings__find_holders("", ids, (uint32_t)n, c);
}
