// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "qprof/trace_format.h"

#define PROGRAM "qprof-bpf"

static bool is_ours(const char *comm_path)
{
	_fclose_ FILE *f = fopen(comm_path, "re");
	char name[32] = "";

	return f && fgets(name, sizeof(name), f) && !strcmp(name, PROGRAM "\n");
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
	_fclose_ FILE *f = NULL;
	struct stat st;

	/* Opening a pipe would block. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "re");
	return f && fread(magic, sizeof(magic), 1, f) == 1 &&
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

int recordings__find(const char *root, struct recordings *r)
{
	_free_ char *pattern = NULL;
	glob_t found = {};
	int err = 0;

	*r = (struct recordings){};
	if (asprintf(&pattern, "%s/proc/[0-9]*/comm", root) < 0) {
		pattern = NULL;
		return -ENOMEM;
	}
	glob(pattern, GLOB_NOSORT, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && !err; i++) {
		char *path = found.gl_pathv[i];
		pid_t pid = atoi(path + strlen(root) + strlen("/proc/"));

		if (pid == getpid() || !is_ours(path))
			continue;
		*strrchr(path, '/') = '\0';
		err = look_at(r, path, pid);
	}
	globfree(&found);
	return err;
}

pid_t recordings__writer_of(const struct recordings *r, const char *path)
{
	struct stat is, st;

	if (stat(path, &is))
		return 0;
	for (size_t i = 0; i < r->n; i++)
		if (!stat(r->at[i].path, &st) && st.st_dev == is.st_dev && st.st_ino == is.st_ino)
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
