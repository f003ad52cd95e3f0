// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "proc/processes.h"

/* Lines that are read: a process may have made any number of mappings. */
#define LINES_MAX 100000
#define VDSO	  "[vdso]"

int mapped_files__path(pid_t pid, uint64_t start, uint64_t end, const char *path, char **out)
{
	_free_ char *link = NULL;

	/* The link leads to the very inode, whatever became of its path. */
	if (asprintf(&link, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start, end) < 0) {
		link = NULL;
		return -ENOMEM;
	}
	if (!faccessat(AT_FDCWD, link, R_OK, AT_EACCESS)) {
		*out = take_ptr(link);
		return 0;
	}
	if (errno != EPERM && errno != EACCES)
		return -errno;
	if (asprintf(out, "/proc/%d/root%s", (int)pid, path) < 0)
		return -ENOMEM;
	return 0;
}

static int find_identity(pid_t pid, const struct mapped_file *m, const char *path,
			 struct library_identity *id)
{
	_free_ char *here = NULL;
	struct stat st;
	int err = mapped_files__path(pid, m->start, m->end, path, &here);

	if (err)
		return err;
	if (stat(here, &st))
		return -errno;
	/* 0 stands for the vdso here, and only a FUSE server has such a number. */
	if (!S_ISREG(st.st_mode) || !st.st_ino)
		return -ENOEXEC;
	*id = library_identity_of(&st);
	return 0;
}

/* Segments of one file come in a row, and share their path. False: there is no room. */
static bool add_path(struct mapped_files *out, const char *path, uint32_t *at)
{
	const struct mapped_file *last = out->n ? &out->items[out->n - 1] : NULL;
	size_t len = strlen(path) + 1;

	if (last && !strcmp(out->text + last->path, path)) {
		*at = last->path;
		return true;
	}
	if (len > sizeof(out->text) - out->n_text)
		return false;
	memcpy(out->text + out->n_text, path, len);
	*at = out->n_text;
	out->n_text += (uint32_t)len;
	return true;
}

/* A line is "start-end rwxp offset device inode   path". */
static void read_line(struct mapped_files *out, pid_t pid, const char *line)
{
	struct mapped_file m = {0};
	const char *path;
	char rights[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.start, &m.end,
		   rights, &m.offset, &at) != 4 ||
	    !at || strlen(rights) != 4 || rights[2] != 'x')
		return;
	path = line + at;
	if (*path != '/' && strcmp(path, VDSO))
		return;
	if (out->n == MAPPED_FILES_MAX ||
	    (strcmp(path, VDSO) && find_identity(pid, &m, path, &m.id)) ||
	    !add_path(out, path, &m.path)) {
		out->n_lost++;
		return;
	}
	out->items[out->n++] = m;
}

int mapped_files__parse(FILE *maps, pid_t pid, struct mapped_files *out)
{
	_free_ char *line = NULL;
	size_t size = 0;
	ssize_t len;

	out->n = out->n_lost = out->n_text = out->pad = 0;
	for (int i = 0; (len = getline(&line, &size, maps)) > 0; i++) {
		if (i == LINES_MAX)
			return -ETIME;
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		read_line(out, pid, line);
	}
	return ferror(maps) ? -EIO : 0;
}

int mapped_files__read(pid_t pid, struct mapped_files *out)
{
	_fclose_ FILE *maps = process_file(pid, "maps");

	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	return mapped_files__parse(maps, pid, out);
}
