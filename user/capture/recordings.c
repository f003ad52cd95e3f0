// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/recordings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/processes.h"
#include "qprof/trace_format.h"

#define PROGRAM "qprof-bpf"

/* The machine may have thousands of processes: three calls for each. */
static bool is_ours(int proc, const char *pid)
{
	char path[NAME_MAX + 8], name[32];
	_close_ int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, sizeof(name));
	return n == sizeof(PROGRAM) && !memcmp(name, PROGRAM "\n", sizeof(PROGRAM));
}

/* True if the descriptor N of /proc/PID/fdinfo/N is open for writing. */
static bool is_for_writing(const char *fdinfo_path)
{
	_fclose_ FILE *f = fopen(fdinfo_path, "re");
	unsigned int flags;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %o", &flags) == 1)
			return (flags & O_ACCMODE) != O_RDONLY;
	return false;
}

static bool is_trace(const char *path)
{
	uint8_t magic[QPT_MAGIC_SIZE];
	_close_ int fd = -1;
	struct stat st;

	/* Opening a pipe would block, as would a file that is leased. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	       !memcmp(magic, QPT_MAGIC, sizeof(magic));
}

static int add(struct recordings *r, pid_t pid, const char *path)
{
	struct recording *at = reallocarray(r->at, r->n + 1, sizeof(*at)), *new;
	char file[PATH_MAX];
	ssize_t len = readlink(path, file, sizeof(file) - 1);

	if (!at)
		return -ENOMEM;
	r->at = at;
	file[len > 0 ? len : 0] = '\0';
	new = &at[r->n++];
	*new = (struct recording){.pid = pid, .file = strdup(file), .path = strdup(path)};
	return new->file &&new->path ? 0 : -ENOMEM;
}

/* `process` is /proc/PID. */
static int look_at(struct recordings *r, const char *process, pid_t pid)
{
	_free_ char *pattern = NULL, *info = NULL;
	glob_t found = {};
	int err = 0;

	if (asprintf(&pattern, "%s/fd/*", process) < 0) {
		pattern = NULL;
		return -ENOMEM;
	}
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		r->hidden++;
	for (size_t i = 0; i < found.gl_pathc && !err; i++) {
		const char *fd = found.gl_pathv[i];

		free(take_ptr(info));
		if (asprintf(&info, "%s/fdinfo/%s", process, strrchr(fd, '/') + 1) < 0) {
			info = NULL;
			err = -ENOMEM;
		} else if (is_for_writing(info) && is_trace(fd)) {
			err = add(r, pid, fd);
		}
	}
	globfree(&found);
	return err;
}

/* Root's, or ours: what others call themselves and have open may be to mislead, or to block. */
static bool is_trusted(const char *process)
{
	struct stat st;

	return !stat(process, &st) && (!st.st_uid || st.st_uid == getuid());
}

/* `trusted`: only what is_trusted(), and none of our helpers, which have our files. */
static int find(const char *root, bool trusted, struct recordings *r)
{
	_closedir_ DIR *proc = NULL;
	char path[PATH_MAX];
	struct dirent *ent;
	int err = 0;

	*r = (struct recordings){};
	snprintf(path, sizeof(path), "%s/proc", root);
	proc = opendir(path);
	while (proc && !err && (ent = readdir(proc))) {
		pid_t pid = atoi(ent->d_name);

		if (pid <= 0 || pid == getpid() || !is_ours(dirfd(proc), ent->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/proc/%d", root, (int)pid);
		if (trusted && (!is_trusted(path) || process_parent(pid) == getpid()))
			continue;
		err = look_at(r, path, pid);
	}
	return err;
}

int recordings__find(const char *root, struct recordings *r)
{
	return find(root, false, r);
}

static bool is_same(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Ours has the files that we have open; a helper has its recorder's. */
static bool is_another(const struct recordings *r, size_t i, const glob_t *own)
{
	struct stat st;

	/* It has ended. */
	if (stat(r->at[i].path, &st))
		return false;
	for (size_t k = 0; k < own->gl_pathc; k++)
		if (is_same(own->gl_pathv[k], &st))
			return false;
	for (size_t k = 0; k < i; k++)
		if (r->at[k].pid == r->at[i].pid || is_same(r->at[k].path, &st))
			return false;
	return true;
}

int recordings__beside(const char *root, uint32_t *n)
{
	_recordings_ struct recordings r;
	_free_ char *pattern = NULL;
	glob_t own = {};
	uint32_t others = 0;
	int err = find(root, true, &r);

	if (err)
		return err;
	if (asprintf(&pattern, "%s/proc/self/fd/*", root) < 0) {
		pattern = NULL;
		return -ENOMEM;
	}
	if (r.n)
		glob(pattern, GLOB_NOSORT, NULL, &own);
	for (size_t i = 0; i < r.n; i++)
		others += is_another(&r, i, &own);
	globfree(&own);
	*n = others;
	return 0;
}

pid_t recordings__writer_of(const struct recordings *r, const char *path)
{
	struct stat is;

	if (stat(path, &is))
		return 0;
	for (size_t i = 0; i < r->n; i++)
		if (is_same(r->at[i].path, &is))
			return r->at[i].pid;
	return 0;
}

void recordings__clear(struct recordings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->at[i].file);
		free(r->at[i].path);
	}
	free(r->at);
	*r = (struct recordings){};
}
