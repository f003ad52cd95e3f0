// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/library/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"

int64_t library_file_settled_ns = 2000000000LL;

struct library_file {
	int refs;
	int fd;
	char fd_path[32];
	char *path;
	struct library_identity id;
};

static int64_t to_ns(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000LL + ts->tv_nsec;
}

struct library_identity library_identity_of(const struct stat *st)
{
	return (struct library_identity){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = to_ns(&st->st_mtim),
		.ctime_ns = to_ns(&st->st_ctim),
		.uid = st->st_uid,
	};
}

/*
 * Any user may mount FUSE, whose server answers stat(2), and an overlay on FUSE in a user
 * namespace. Device numbers of both are used again. tmpfs can be mounted in a user namespace as
 * well, but the kernel sets its ctime from the clock: a file with this device, inode and ctime
 * existed once, at that time. Overlays of our own mount namespace were mounted by root.
 */
static bool has_honest_ctime(int fd)
{
	struct file_mount m;

	return !file_mount__of(fd, &m) && !m.fuse && (!m.overlay || m.ours);
}

int library_file__take(int fd, const char *path, const struct library_identity *id,
		       struct library_file **out)
{
	_library_file_ struct library_file *f = calloc(1, sizeof(*f));

	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	f->refs = 1;
	f->fd = fd;
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	snprintf(f->fd_path, sizeof(f->fd_path), "/proc/self/fd/%d", fd);
	f->id = *id;
	*out = take_ptr(f);
	return 0;
}

/*
 * To open a device can have effects: it starts a watchdog, or rewinds a tape. O_PATH opens the
 * inode without a call of its driver, and the second open takes the same inode.
 */
int library_file__open_regular(const char *path)
{
	_close_ int inode = open(path, O_PATH | O_CLOEXEC);
	char name[32];
	struct stat st;
	int fd;

	if (inode < 0 || fstat(inode, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", inode);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int library_file__try(const char *path, struct library_file **out)
{
	struct library_identity id;
	_close_ int fd = -1;
	struct stat st;

	fd = library_file__open_regular(path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	id = library_identity_of(&st);
	/* The clock may reach a ctime in the future again. */
	id.lasting = has_honest_ctime(fd) &&
		     (int64_t)clock_ns(CLOCK_REALTIME) - id.ctime_ns > library_file_settled_ns;
	return library_file__take(take_fd(fd), path, &id, out);
}

int library_file__open(const char *path, struct library_file **out)
{
	int err = library_file__try(path, out);

	if (err == -ENOEXEC)
		diag_error("%s is not a regular file", path);
	else if (err)
		diag_error("cannot open %s: %s", path, strerror(-err));
	return err;
}

struct library_file *library_file__ref(struct library_file *f)
{
	if (f)
		__atomic_add_fetch(&f->refs, 1, __ATOMIC_RELAXED);
	return f;
}

void library_file__free(struct library_file *f)
{
	if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		return;
	cleanup_close_p(&f->fd);
	free(f->path);
	free(f);
}

int library_file__fd(const struct library_file *f)
{
	return f->fd;
}

const char *library_file__fd_path(const struct library_file *f)
{
	return f->fd_path;
}

const char *library_file__path(const struct library_file *f)
{
	return f->path;
}

const struct library_identity *library_file__identity(const struct library_file *f)
{
	return &f->id;
}

bool library_file__is_inode(const struct library_file *f, dev_t dev, ino_t ino)
{
	return f->id.dev == dev && f->id.ino == ino;
}

int library_file__reopen(const struct library_file *f, struct library_file **out)
{
	char *path = strdup(f->path);
	int err = path ? library_file__try(f->fd_path, out) : -ENOMEM;

	if (err) {
		free(path);
		return err;
	}
	free((*out)->path);
	(*out)->path = path;
	return 0;
}

int library_file__stat(const struct library_file *f, struct library_identity *now)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return -errno;
	*now = library_identity_of(&st);
	return 0;
}

bool library_file__accept_ctime(struct library_file *f)
{
	struct library_identity now = {0};

	if (library_file__stat(f, &now) || now.size != f->id.size || now.mtime_ns != f->id.mtime_ns)
		return false;
	f->id.ctime_ns = now.ctime_ns;
	return true;
}

bool library_file__is_same(const struct library_file *f)
{
	struct library_identity now = {0};

	return !library_file__stat(f, &now) && library_identity_is_same(&now, &f->id);
}

/* ---- Mounts ---------------------------------------------------------------------------------- */

void file_mount__find(FILE *mountinfo, int id, struct file_mount *m)
{
	_free_ char *line = NULL;
	size_t size = 0;
	int of;

	while (getline(&line, &size, mountinfo) > 0) {
		char *type = strstr(line, " - "), *source, *options, *rest = NULL;

		if (sscanf(line, "%d", &of) != 1 || of != id || !type)
			continue;
		m->ours = true;
		if (!m->fuse)
			return;
		/*
		 * A source has no space: the kernel writes it as \040. Behind it are the
		 * superblock's options: "rw,user_id=1000,group_id=1000,allow_other".
		 */
		source = strchr(type + 3, ' ');
		options = source ? strchr(source + 1, ' ') : NULL;
		if (options)
			options = strtok_r(options + 1, ",\n", &rest);
		for (; options; options = strtok_r(NULL, ",\n", &rest))
			if (sscanf(options, "user_id=%u", &m->server) == 1)
				m->has_server = true;
		return;
	}
}

int file_mount__of(int fd, struct file_mount *m)
{
	_fclose_ FILE *mountinfo = NULL;
	struct statfs fs;
	struct statx st;

	*m = (struct file_mount){0};
	if (fstatfs(fd, &fs))
		return -errno;
	m->fuse = fs.f_type == FUSE_SUPER_MAGIC;
	m->overlay = fs.f_type == OVERLAYFS_SUPER_MAGIC;
	if (!m->fuse && !m->overlay)
		return 0;
	/* Not from /proc/self/fdinfo, which is closed to a process that has given up root. */
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st))
		return -errno;
	if (!(st.stx_mask & STATX_MNT_ID))
		return -ENODATA;
	mountinfo = fopen("/proc/self/mountinfo", "re");
	if (!mountinfo)
		return -errno;
	file_mount__find(mountinfo, (int)st.stx_mnt_id, m);
	return 0;
}

/* virtiofs has no user: only root mounts it, and the host serves it. */
bool file_mount__is_foreign(const struct file_mount *m, uid_t user)
{
	if (!m->fuse)
		return false;
	if (!m->ours)
		return true;
	return m->has_server && m->server && m->server != user;
}
