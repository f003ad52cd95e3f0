// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/map.h"

/* The kernel adds this to the path of a file that was deleted. */
#define DELETED " (deleted)"

/* An environment may be long, and cargo's variables may come long after the inherited ones. */
#define ENVIRON_MOST (1u << 20)

FILE *process_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

static ssize_t read_proc(pid_t pid, const char *file, char *buf, size_t size)
{
	char path[64];
	_close_ int fd = -1;
	size_t len = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

/* The name is in parentheses, and may hold any character, a parenthesis too. */
bool process_stat__parse(struct process_stat *s, const char *text)
{
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	uint64_t user, system;

	*s = (struct process_stat){};
	if (!begin || !end || end < begin)
		return false;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)(end - begin - 1), begin + 1);
	/* Fields 3 to 22 of proc(5). */
	if (sscanf(end + 1,
		   " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %*d %*d %" SCNu64,
		   &s->state, &s->parent, &s->session, &user, &system, &s->start_ticks) != 6)
		return false;
	s->cpu_ticks = user + system;
	return true;
}

bool process_stat(pid_t pid, pid_t tid, struct process_stat *s)
{
	char file[32] = "stat", text[1024];
	ssize_t n;

	if (tid)
		snprintf(file, sizeof(file), "task/%d/stat", (int)tid);
	n = read_proc(pid, file, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return process_stat__parse(s, text);
}

bool process_session(pid_t pid, pid_t *session, uint64_t *start_ticks)
{
	struct process_stat s;

	if (!process_stat(pid, 0, &s))
		return false;
	*session = s.session;
	*start_ticks = s.start_ticks;
	return true;
}

/* Of long paths only the beginning counts, which names the container. */
uint64_t process_cgroup(pid_t pid)
{
	char text[4096];
	ssize_t n = read_proc(pid, "cgroup", text, sizeof(text));

	return n <= 0 ? 0 : map_hash(text, (size_t)n);
}

pid_t process_parent(pid_t pid)
{
	struct process_stat s;

	return process_stat(pid, 0, &s) ? s.parent : 0;
}

bool process_is_running(pid_t pid)
{
	struct process_stat s;

	return process_stat(pid, 0, &s) && !strchr("ZXx", s.state);
}

/* A number of /proc/PID/status, which is read without waiting for the process. */
static bool read_status(pid_t pid, const char *field, unsigned int *value)
{
	char text[4096], *line;
	ssize_t n = read_proc(pid, "status", text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	line = strstr(text, field);
	if (line)
		*value = (unsigned int)strtoul(line + strlen(field), NULL, 10);
	return line;
}

/* A name, which comes first, holds no line end: the kernel writes it as "\n". */
unsigned int process_threads(pid_t pid)
{
	unsigned int n = 0;

	read_status(pid, "\nThreads:\t", &n);
	return n;
}

uid_t process_uid(pid_t pid)
{
	unsigned int uid = 0;

	return read_status(pid, "\nUid:\t", &uid) ? uid : PROCESS_USER_UNKNOWN;
}

size_t process_arguments(pid_t pid, char *buf, size_t size)
{
	ssize_t n = read_proc(pid, "cmdline", buf, size);

	return n < 0 ? 0 : (size_t)n;
}

size_t process_variable(pid_t pid, const char *name, char *buf, size_t size)
{
	_free_ char *line = NULL;
	size_t capacity = 0, read = 0, len = strlen(name);
	_fclose_ FILE *f = process_file(pid, "environ");
	ssize_t n;

	while (f && read < ENVIRON_MOST && (n = getdelim(&line, &capacity, '\0', f)) > 0) {
		read += (size_t)n;
		if (strncmp(line, name, len) || line[len] != '=')
			continue;
		n = (ssize_t)strlen(line + len + 1);
		if ((size_t)n > size)
			n = (ssize_t)size;
		memcpy(buf, line + len + 1, (size_t)n);
		return (size_t)n;
	}
	return 0;
}

static char *read_link(pid_t pid, const char *file)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return strdup(target);
}

char *process_executable(pid_t pid)
{
	char *path = read_link(pid, "exe");
	size_t len = path ? strlen(path) : 0, cut = strlen(DELETED);

	if (len > cut && !strcmp(path + len - cut, DELETED))
		path[len - cut] = '\0';
	return path;
}

char *process_cwd(pid_t pid)
{
	return read_link(pid, "cwd");
}

void process_name(pid_t pid, char *buf, size_t size)
{
	ssize_t n = read_proc(pid, "comm", buf, size - 1);

	if (n <= 0) {
		snprintf(buf, size, "?");
		return;
	}
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

size_t process_tids(pid_t pid, pid_t *tids, size_t most)
{
	_closedir_ DIR *dir = NULL;
	struct dirent *ent;
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && n < most && (ent = readdir(dir)))
		if (isdigit((unsigned char)ent->d_name[0]))
			tids[n++] = atoi(ent->d_name);
	return n;
}

struct pair {
	pid_t pid;
	pid_t parent;
};

/* All pairs of the machine; `list` gets room for as many. */
static int find_pairs(struct process_list *list, struct pair **pairs, uint32_t *n)
{
	_closedir_ DIR *dir = opendir("/proc");
	uint32_t capacity = 0;
	struct dirent *ent;

	*list = (struct process_list){0};
	*pairs = NULL;
	*n = 0;
	if (!dir)
		return -errno;
	while ((ent = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)ent->d_name[0]) ? atoi(ent->d_name) : 0;

		if (!pid)
			continue;
		if (array__reserve_one(pairs, *n, &capacity, sizeof(**pairs)))
			return -ENOMEM;
		(*pairs)[(*n)++] = (struct pair){pid, process_parent(pid)};
	}
	list->pids = calloc(*n + 1UL, sizeof(*list->pids));
	return list->pids ? 0 : -ENOMEM;
}

int process_list__all(struct process_list *list)
{
	_free_ struct pair *all = NULL;
	uint32_t n;
	int err = find_pairs(list, &all, &n);

	for (uint32_t i = 0; i < n && !err; i++)
		list->pids[list->n++] = all[i].pid;
	return err;
}

static bool contains(const struct process_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

int process_list__descendants(pid_t root, struct process_list *list)
{
	_free_ struct pair *all = NULL;
	uint32_t n;
	size_t before;
	int err = find_pairs(list, &all, &n);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++)
		if (all[i].pid == root)
			list->pids[list->n++] = root;
	if (!list->n)
		return -ESRCH;
	do {
		before = list->n;
		for (uint32_t i = 0; i < n; i++)
			if (contains(list, all[i].parent) && !contains(list, all[i].pid))
				list->pids[list->n++] = all[i].pid;
	} while (list->n != before);
	return 0;
}

void process_list__clear(struct process_list *list)
{
	free(list->pids);
	*list = (struct process_list){0};
}
