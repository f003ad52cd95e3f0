// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/scope.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "proc/processes.h"

/* The prefix of version 2's line in /proc/PID/cgroup. */
#define VERSION_2 "0::"

struct scope {
	char *cgroup; /* NULL: all processes */
	char *mount;  /* the mount point of its hierarchy */
};

static bool is_cgroup(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* The topmost directory of the cgroup file system that contains `dir`. */
static void find_mount(const char *dir, char *mount)
{
	char up[strlen(dir) + 1], *slash;

	strcpy(mount, dir);
	strcpy(up, dir);
	while ((slash = strrchr(up, '/')) && slash != up) {
		*slash = '\0';
		if (!is_cgroup(up))
			return;
		strcpy(mount, up);
	}
}

int scope__new(const char *cgroup, struct scope **out)
{
	_scope_ struct scope *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (cgroup) {
		s->cgroup = realpath(cgroup, NULL);
		if (!s->cgroup)
			return -errno;
		if (!is_cgroup(s->cgroup))
			return -EINVAL;
		s->mount = strdup(s->cgroup);
		if (!s->mount)
			return -ENOMEM;
		find_mount(s->cgroup, s->mount);
	}
	*out = take_ptr(s);
	return 0;
}

bool scope_cgroup_holds(const char *line, const char *mount, const char *dir)
{
	const char *below = dir + strlen(mount), *path;
	size_t len = strlen(below);

	/* Skip the lines of older hierarchies. */
	while (line && strncmp(line, VERSION_2, strlen(VERSION_2))) {
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	if (!line || !*line)
		return false;
	path = line + strlen(VERSION_2);
	return !strncmp(path, below, len) &&
	       (!len || path[len] == '/' || path[len] == '\n' || path[len] == '\0');
}

bool scope__holds(const struct scope *s, pid_t pid)
{
	_fclose_ FILE *f = s->cgroup ? process_file(pid, "cgroup") : NULL;
	_free_ char *text = NULL;
	size_t size = 0;

	if (!s->cgroup)
		return true;
	return f && getdelim(&text, &size, '\0', f) > 0 &&
	       scope_cgroup_holds(text, s->mount, s->cgroup);
}

void scope__free(struct scope *s)
{
	if (!s)
		return;
	free(s->cgroup);
	free(s->mount);
	free(s);
}
