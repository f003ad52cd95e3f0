// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qprof/trace_format.h"

#define PROGRAM "qprof-bpf"
/* Of one process, that it writes. */
#define FILES_MAX 256

/* `process` is /proc/PID. */
static bool is_ours(const char *process)
{
	char path[PATH_MAX], name[32] = "";
	_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/comm", process);
	f = fopen(path, "re");
	return f && fgets(name, sizeof(name), f) && !strcmp(name, PROGRAM "\n");
}

/* True if the descriptor N of /proc/PID/fdinfo/N is open for writing; *mount is where its file is.
 */
static bool is_for_writing(const char *fdinfo_path, int *mount)
{
	_fclose_ FILE *f = fopen(fdinfo_path, "re");
	unsigned int flags = 0;
	char line[128];

	*mount = -1;
	while (f && *mount < 0 && fgets(line, sizeof(line), f)) {
		sscanf(line, "flags: %o", &flags);
		sscanf(line, "mnt_id: %d", mount);
	}
	return (flags & O_ACCMODE) != O_RDONLY;
}

/*
 * Whether a FUSE server may be asked for the file, which may never answer: of a mount that is not
 * ours that is not known.
 */
static bool may_be_served(const char *root, int mount)
{
	_fclose_ FILE *mounts = NULL;
	_free_ char *line = NULL;
	char path[PATH_MAX];
	size_t size = 0;
	int of;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	mounts = fopen(path, "re");
	while (mounts && getline(&line, &size, mounts) > 0) {
		const char *type = strstr(line, " - ");

		if (sscanf(line, "%d", &of) == 1 && of == mount)
			return !type || !strncmp(type, " - fuse", 7);
	}
	return true;
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

static int add_recording(struct recordings *r, pid_t pid, const char *path)
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

static int look_at(struct recordings *r, const char *root, const char *process, pid_t pid)
{
	_free_ char *pattern = NULL, *info = NULL;
	glob_t found = {};
	int err = 0, mount, left = FILES_MAX;

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
		} else if (is_for_writing(info, &mount) && left-- > 0 &&
			   !may_be_served(root, mount) && is_trace(fd)) {
			err = add_recording(r, pid, fd);
		}
	}
	globfree(&found);
	return err;
}

/*
 * Root's, or ours: what others call themselves and have open may be to mislead, or to block. The
 * real user counts, as anybody may start a program with root's rights.
 */
static bool is_trusted(const char *process)
{
	char path[PATH_MAX + 8], line[256];
	_fclose_ FILE *f = NULL;
	unsigned int uid;

	snprintf(path, sizeof(path), "%s/status", process);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u", &uid) == 1)
			return !uid || uid == getuid();
	return false;
}

/* Of all processes, or of those that are trusted. */
static int find_all(const char *root, bool trusted, struct recordings *r)
{
	_free_ char *pattern = NULL;
	glob_t found = {};
	int err = 0;

	*r = (struct recordings){};
	if (asprintf(&pattern, "%s/proc/[0-9]*", root) < 0) {
		pattern = NULL;
		return -ENOMEM;
	}
	glob(pattern, GLOB_NOSORT, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && !err; i++) {
		const char *process = found.gl_pathv[i];
		pid_t pid = atoi(strrchr(process, '/') + 1);

		if (pid != getpid() && is_ours(process) && (!trusted || is_trusted(process)))
			err = look_at(r, root, process, pid);
	}
	globfree(&found);
	return err;
}

int recordings__find(const char *root, struct recordings *r)
{
	return find_all(root, false, r);
}

/* ---- Beside ours ----------------------------------------------------------------------------- */

/*
 * Each recording has a lock on the byte of its pid, in a file that every machine has that can
 * record; another network namespace has another one. Anybody may have locks there: so many are
 * looked at. /proc/locks has them too, but to open it waits for a grace period of the kernel, some
 * 16 ms.
 */
#define MARKED_FILE "/sys/kernel/btf/vmlinux"
#define MARKS_MOST  256

static int lock_range(int fd, int op, short type, off_t first, off_t n, struct flock *out)
{
	*out = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = n};
	return fcntl(fd, op, out) ? -errno : 0;
}

int recordings__mark(void)
{
	_close_ int fd = open(MARKED_FILE, O_RDONLY | O_CLOEXEC);
	struct flock lock;

	if (fd >= 0)
		lock_range(fd, F_OFD_SETLK, F_RDLCK, getpid(), 1, &lock);
	return take_fd(fd);
}

struct range {
	off_t first, end;
};

/*
 * The kernel shows one lock of a range, and not the first: then look before and behind it. *all:
 * there are no more. A lock of more than a byte is no mark, and hides those within.
 */
static size_t find_marks(int fd, pid_t pids[MARKS_MOST], bool *all)
{
	struct range left[MARKS_MOST + 2] = {{1, (off_t)INT_MAX + 1}};
	size_t n_left = 1, n = 0;
	struct flock lock;

	while (n_left && n < MARKS_MOST) {
		struct range r = left[--n_left];

		if (r.first >= r.end ||
		    lock_range(fd, F_OFD_GETLK, F_WRLCK, r.first, r.end - r.first, &lock) ||
		    lock.l_type == F_UNLCK)
			continue;
		if (lock.l_len != 1) {
			n_left = 1;
			break;
		}
		pids[n++] = (pid_t)lock.l_start;
		left[n_left++] = (struct range){r.first, lock.l_start};
		left[n_left++] = (struct range){lock.l_start + 1, r.end};
	}
	*all = !n_left;
	return n;
}

/* A recording has a mark: /proc has one directory for each process, and looking at all takes ms. */
static int find_marked(const char *root, struct recordings *r)
{
	pid_t pids[MARKS_MOST];
	char path[PATH_MAX];
	_close_ int fd = -1;
	bool all = true;
	size_t n;
	int err = 0;

	*r = (struct recordings){};
	snprintf(path, sizeof(path), "%s" MARKED_FILE, root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? find_marks(fd, pids, &all) : 0;
	if (!all)
		return find_all(root, true, r);
	for (size_t i = 0; i < n && !err; i++) {
		snprintf(path, sizeof(path), "%s/proc/%d", root, (int)pids[i]);
		if (pids[i] != getpid() && is_ours(path) && is_trusted(path))
			err = look_at(r, root, path, pids[i]);
	}
	return err;
}

static bool is_same(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Ours has the files that we have open. */
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
	int err = find_marked(root, &r);

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
