// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/cache_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file_writer.h"
#include "base/xdg.h"

#define SYSTEM_BASE "/var/cache"
#define DIR_NAME    "qprof-bpf"
/* A plan of rustc takes 600 KB, the tables of its or LLVM's code 22 MB. With --system any user may
 * have us make plans. */
#define FILE_SIZE_MAX (64u << 20)
#define FILES_MAX     64
/* Older than any writer that still runs. */
#define ABANDONED_S 3600

struct cache_dir {
	int dir;
	bool system;
};

const char *cache_dir_name(enum cache_dir_kind kind)
{
	return kind == CACHE_DIR_SYSTEM ? "the system's cache" : "the user's cache";
}

/* ---- The directory --------------------------------------------------------------------------- */

/* No other user can have written the file. */
static bool is_safe(const struct stat *st, uid_t owner)
{
	return st->st_uid == owner && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Below a sticky directory, such as /tmp, only root can replace root's files. */
static bool is_roots_way(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_uid &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || (st.st_mode & S_ISVTX));
}

static int open_below(int dir, const char *name, bool create, mode_t mode)
{
	int fd;

	if (create && !mkdirat(dir, name, mode))
		fchmodat(dir, name, mode, 0); /* whatever the umask is */
	else if (create && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* An absolute path whose directories only root can write to; the last one is made. */
static int open_roots(const char *path, bool create)
{
	_free_ char *copy = strdup(path);
	_close_ int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *rest = copy, *name;

	if (!copy || dir < 0)
		return copy ? -errno : -ENOMEM;
	while ((name = strsep(&rest, "/"))) {
		int next;

		if (!*name)
			continue;
		if (!is_roots_way(dir) || !strcmp(name, ".."))
			return -EPERM;
		next = open_below(dir, name, create && !rest, 0755);
		if (next < 0)
			return next;
		close(dir);
		dir = next;
	}
	return is_roots_way(dir) ? take_fd(dir) : -EPERM;
}

/* The XDG specification says to ignore relative paths. */
static const char *chosen_base(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME");

	return xdg && *xdg == '/' ? xdg : NULL;
}

static int open_system_base(bool create)
{
	const char *chosen = geteuid() ? NULL : chosen_base();
	int fd = chosen ? open_roots(chosen, create) : -EPERM;

	return fd == -EPERM || fd == -ELOOP || fd == -ENOTDIR ? open_roots(SYSTEM_BASE, create)
							      : fd;
}

static int open_user_base(bool create)
{
	_free_ char *base = xdg__path(XDG_CACHE, "");
	int fd;

	if (!base)
		return -ENOMEM;
	if (create && mkdir(base, 0700) && errno != EEXIST)
		return -errno;
	fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cache_dir__open(enum cache_dir_kind kind, bool create, struct cache_dir **out)
{
	bool system = kind == CACHE_DIR_SYSTEM;
	_close_ int base = system ? open_system_base(create) : open_user_base(create);
	_close_ int fd = base < 0 ? base : open_below(base, DIR_NAME, create, system ? 0755 : 0700);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if (!is_safe(&st, system ? 0 : geteuid()))
		return -EPERM;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->dir = take_fd(fd);
	(*out)->system = system;
	return 0;
}

void cache_dir__free(struct cache_dir *s)
{
	if (!s)
		return;
	cleanup_close_p(&s->dir);
	free(s);
}

/* ---- Its files ------------------------------------------------------------------------------- */

static int read_whole(int fd, uint8_t *p, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, p + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		used += (size_t)n;
	}
	return 0;
}

/* Its descriptor and size, if no other user can have written it. */
static int open_file(const struct cache_dir *s, const char *name, size_t *size)
{
	_close_ int fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || !is_safe(&st, s->system ? 0 : geteuid()))
		return -EPERM;
	if (st.st_size > FILE_SIZE_MAX)
		return -EFBIG;
	*size = (size_t)st.st_size;
	return take_fd(fd);
}

int cache_dir__read(const struct cache_dir *s, const char *name, uint8_t **buf, size_t *len)
{
	size_t size = 0;
	_close_ int fd = open_file(s, name, &size);
	_free_ uint8_t *p = NULL;
	int err;

	if (fd < 0)
		return fd;
	p = malloc(size + 1);
	if (!p)
		return -ENOMEM;
	err = read_whole(fd, p, size);
	if (err)
		return err;
	*buf = take_ptr(p);
	*len = size;
	return 0;
}

int cache_dir__map(const struct cache_dir *s, const char *name, void **map, size_t *len)
{
	size_t size = 0;
	_close_ int fd = open_file(s, name, &size);
	void *p;

	if (fd < 0)
		return fd;
	if (!size)
		return -EBADMSG;
	p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*map = p;
	*len = size;
	return 0;
}

/* Another run may be writing the same plan: each writes a file of its own, the last rename wins. */
int cache_dir__write(const struct cache_dir *s, const char *name, const uint8_t *buf, size_t len)
{
	_close_ int fd = -1;
	char temp[64];
	uint64_t nonce;
	struct file_writer w = {0};
	int err;

	if (len > FILE_SIZE_MAX)
		return -EFBIG;
	if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
		nonce = 0;
	snprintf(temp, sizeof(temp), ".new-%d-%016llx", getpid(), (unsigned long long)nonce);
	fd = openat(s->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	w.fd = fd;
	err = file_writer__write(&w, buf, len);
	if (!err && s->system && fchmod(fd, 0644))
		err = -errno;
	if (!err && renameat(s->dir, temp, s->dir, name))
		err = -errno;
	if (err)
		unlinkat(s->dir, temp, 0);
	return err;
}

struct pruning {
	const struct cache_dir *dir;
	const char *name;
	size_t prefix, kind;
	unsigned int n;
	char oldest[256];
	time_t oldest_s;
};

static void look_at(struct pruning *p, const char *name)
{
	bool left = !strncmp(name, ".new-", 5);
	struct stat st;

	if (!left && strncmp(name, p->name, p->kind))
		return;
	if (!left && !strncmp(name, p->name, p->prefix)) {
		if (strcmp(name, p->name))
			unlinkat(p->dir->dir, name, 0);
		return;
	}
	if (fstatat(p->dir->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (left) {
		if (time(NULL) - st.st_mtime > ABANDONED_S)
			unlinkat(p->dir->dir, name, 0);
		return;
	}
	if (!p->n++ || st.st_mtime < p->oldest_s) {
		p->oldest_s = st.st_mtime;
		snprintf(p->oldest, sizeof(p->oldest), "%s", name);
	}
}

void cache_dir__prune(const struct cache_dir *s, const char *name, size_t prefix, size_t kind)
{
	struct pruning p = {.dir = s, .name = name, .prefix = prefix, .kind = kind};
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (ent = readdir(dir)))
		look_at(&p, ent->d_name);
	if (p.n >= FILES_MAX)
		unlinkat(s->dir, p.oldest, 0);
}
