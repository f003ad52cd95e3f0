// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "plan/codec.h"
#include "base/file_writer.h"
#include "base/own_path.h"
#include "base/cleanup.h"
#include "base/rights.h"

/* The two directories that cache.h describes: opened with care; files are mapped, and written
 * whole. */

enum cache_dir_kind {
	CACHE_DIR_SYSTEM, /* only root can write to it, and to every directory above it */
	CACHE_DIR_USER,	  /* only our effective user, or root, can write to it */
};

static const char *const cache_dir_names[] = {"the system's cache", "the user's cache"};

#define SYSTEM_BASE "/var/cache"
#define DIR_NAME    "qprof-bpf"
/* A plan of rustc takes 600 KB, the tables of its or LLVM's code 22 MB. With --system any user may
 * have us make plans. */
#define FILE_SIZE_MAX (64u << 20)
#define FILES_MAX     64
/* Older than any writer that still runs. */
#define ABANDONED_S 3600

/* ---- The directory --------------------------------------------------------------------------- */

/* No other user can have written the file. */
static bool is_safe(const struct stat *st, enum cache_dir_kind kind)
{
	return st->st_uid == (kind == CACHE_DIR_SYSTEM ? 0 : geteuid()) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
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

/* Another place may be chosen; the XDG specification says to ignore relative paths. */
static int open_system_base(bool create)
{
	const char *chosen = geteuid() ? NULL : getenv("XDG_CACHE_HOME");
	int fd = chosen && *chosen == '/' ? open_roots(chosen, create) : -EPERM;

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

/*
 * A descriptor of the directory, which is made where it is missing, if `create`. Negative errno;
 * -EPERM if others may write there.
 */
static int cache_dir__open(enum cache_dir_kind kind, bool create)
{
	bool system = kind == CACHE_DIR_SYSTEM;
	_close_ int base = system ? open_system_base(create) : open_user_base(create);
	_close_ int fd = base < 0 ? base : open_below(base, DIR_NAME, create, system ? 0755 : 0700);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	return is_safe(&st, kind) ? take_fd(fd) : -EPERM;
}

/* ---- Its files ------------------------------------------------------------------------------- */

/*
 * Map the file, which is the caller's to munmap(); -EPERM if another user may have written it.
 * Large files are there ten times as fast as by reading. They are replaced and never truncated,
 * except by a user who may write to the store: SIGBUS then ends only that user's own process.
 */
static int cache_dir__map(int dir, enum cache_dir_kind kind, const char *name, void **map,
			  size_t *len)
{
	_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || !is_safe(&st, kind))
		return -EPERM;
	if (st.st_size > FILE_SIZE_MAX)
		return -EFBIG;
	if (!st.st_size)
		return -EBADMSG;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*map = p;
	*len = (size_t)st.st_size;
	return 0;
}

/* Another run may be writing the same plan: each writes a file of its own, the last rename wins. */
static int cache_dir__write(int dir, enum cache_dir_kind kind, const char *name, const uint8_t *buf,
			    size_t len)
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
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	w.fd = fd;
	err = file_writer__write(&w, buf, len);
	if (!err && kind == CACHE_DIR_SYSTEM && fchmod(fd, 0644))
		err = -errno;
	if (!err && renameat(dir, temp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err;
}

/*
 * Remove the files that `name` replaces: other files whose names begin with the same `prefix`
 * bytes; the oldest files with the same `kind` bytes, if they are many; and the remains of a killed
 * writer.
 */
static void cache_dir__prune(int dir, const char *name, size_t prefix, size_t kind)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_closedir_ DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	unsigned int n = 0;
	char oldest[256];
	time_t oldest_s = 0;

	if (!list && fd >= 0)
		close(fd);
	while (list && (ent = readdir(list))) {
		const char *other = ent->d_name;
		const bool left = !strncmp(other, ".new-", 5);
		struct stat st;

		if (!left && strncmp(other, name, kind))
			continue;
		if (!left && !strncmp(other, name, prefix)) {
			if (strcmp(other, name))
				unlinkat(dir, other, 0);
			continue;
		}
		if (fstatat(dir, other, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (left) {
			if (time(NULL) - st.st_mtime > ABANDONED_S)
				unlinkat(dir, other, 0);
		} else if (!n++ || st.st_mtime < oldest_s) {
			oldest_s = st.st_mtime;
			snprintf(oldest, sizeof(oldest), "%s", other);
		}
	}
	if (n >= FILES_MAX)
		unlinkat(dir, oldest, 0);
}

#define KIND_MAX      16
#define FILE_NAME_MAX 160

/* "kind-dev-inode-", and the parts that change when the file does. */
static int file_name(const struct plan_cache_key *key, char name[FILE_NAME_MAX], size_t *prefix)
{
	const struct library_identity *id = key->id;

	if (!id->ino)
		return -EINVAL;
	*prefix = (size_t)snprintf(name, FILE_NAME_MAX, "%.*s-%llx-%llx-", KIND_MAX, key->kind,
				   (unsigned long long)id->dev, (unsigned long long)id->ino);
	snprintf(name + *prefix, FILE_NAME_MAX - *prefix, "%llx-%llx-%llx.v%u",
		 (unsigned long long)id->size, (unsigned long long)id->mtime_ns,
		 (unsigned long long)id->ctime_ns, key->version);
	return 0;
}

/*
 * The user's store is only for libraries that the user could change anyway. Without any right
 * beyond his own it also serves those of root, as a distribution's: what it holds can then mislead
 * nobody else.
 */
static bool may_use(const struct plan_cache_key *key, enum cache_dir_kind kind)
{
	uid_t uid = key->id->uid;

	return key->id->lasting &&
	       (kind == CACHE_DIR_SYSTEM || uid == geteuid() || (!uid && !rights__are_given()));
}

/*
 * A store keeps a limited number of files. If it held those of libraries that other users made,
 * they could drive out the rest.
 */
static bool may_fill(const struct plan_cache_key *key)
{
	_invoker_ struct invoker inv = {};

	return !key->id->uid || (!invoker__get(&inv) && key->id->uid == inv.uid);
}

static int map_from(enum cache_dir_kind kind, const struct plan_cache_key *key, const char *name,
		    void **map, size_t *len)
{
	_close_ int dir = may_use(key, kind) ? cache_dir__open(kind, false) : -ENOENT;
	int err = dir < 0 ? dir : cache_dir__map(dir, kind, name, map, len);

	if (err && err != -ENOENT)
		diag_verbose("plan cache: not using %s of %s: %s", name, cache_dir_names[kind],
			     strerror(-err));
	return err;
}

static int map_any(const struct plan_cache_key *key, bool *by_root, void **map, size_t *len)
{
	char name[FILE_NAME_MAX];
	size_t prefix;

	if (file_name(key, name, &prefix))
		return -ENOENT;
	*by_root = !map_from(CACHE_DIR_SYSTEM, key, name, map, len);
	if (*by_root)
		return 0;
	return geteuid() && !map_from(CACHE_DIR_USER, key, name, map, len) ? 0 : -ENOENT;
}

int plan_cache__map(const struct plan_cache_key *key, void **map, size_t *len)
{
	bool by_root;

	return map_any(key, &by_root, map, len);
}

int plan_cache__write(const struct plan_cache_key *key, const uint8_t *buf, size_t len)
{
	enum cache_dir_kind kind = geteuid() ? CACHE_DIR_USER : CACHE_DIR_SYSTEM;
	_close_ int dir = -1;
	char name[FILE_NAME_MAX];
	size_t prefix;
	int err = file_name(key, name, &prefix);

	if (err || !may_use(key, kind) || !may_fill(key))
		return err ?: -EPERM;
	dir = cache_dir__open(kind, true);
	err = dir < 0 ? dir : cache_dir__write(dir, kind, name, buf, len);
	if (err)
		diag_verbose("plan cache: cannot write %s to %s: %s", name, cache_dir_names[kind],
			     strerror(-err));
	else
		cache_dir__prune(dir, name, prefix, strlen(key->kind) + 1);
	return err;
}

/*
 * A plan from other symbols than the library's own has a name of its own: a plan that was made
 * without them must not stand for one with them.
 */
static struct plan_cache_key key_of(const struct library_identity *id, enum symbol_source source)
{
	const char *other = source == SYMBOLS_RECOVERED ? "plan_recovered" : "plan_debug";

	return (struct plan_cache_key){
		.kind = source == SYMBOLS_OF_LIBRARY ? "plan" : other,
		.version = PLAN_CODEC_VERSION,
		.id = id,
	};
}

int plan_cache__load(const struct library_identity *id, bool *by_root, struct plan **out)
{
	/* The best first. */
	static const enum symbol_source sources[] = {SYMBOLS_OF_LIBRARY, SYMBOLS_OF_BUILD_ID,
						     SYMBOLS_RECOVERED};
	int err = -ENOENT;

	for (size_t i = 0; err && i < N_OF(sources); i++) {
		const struct plan_cache_key key = key_of(id, sources[i]);
		void *map;
		size_t len;

		if (map_any(&key, by_root, &map, &len))
			continue;
		err = plan_decode(map, len, out);
		munmap(map, len);
		if (err)
			diag_verbose("plan cache: not using what is there: %s", strerror(-err));
	}
	return err ? -ENOENT : 0;
}

int plan_cache__encode(const struct plan *plan, uint8_t **buf, size_t *len)
{
	/* Everybody may read the system's store, and a path could reveal a private directory. */
	struct plan nowhere = *plan;
	char path[] = "";

	nowhere.path = path;
	nowhere.symbols_file = NULL;
	return plan_encode(&nowhere, buf, len);
}

int plan_cache__store(const struct library_identity *id, const struct plan *plan)
{
	struct plan_cache_key key = key_of(id, plan->symbols);
	_free_ uint8_t *buf = NULL;
	size_t len;
	int err = plan_cache__encode(plan, &buf, &len);

	return err ?: plan_cache__write(&key, buf, len);
}
