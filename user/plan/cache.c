// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "base/invoker.h"
#include "plan/codec.h"

#define DIR_NAME      "qprof-bpf"
#define FILE_SIZE_MAX (64u << 20)

/* Where our directory is to be, and whose it is. */
struct place {
	char *base; /* the directory ours is in */
	uid_t uid;
	gid_t gid;
	struct invoker inv;
	bool switched; /* this thread has the invoker's rights to files, not our own */
};

static void place__clear(struct place *place)
{
	if (place->switched)
		invoker__return_file_rights(&place->inv);
	invoker__clear(&place->inv);
	free(place->base);
}

#define _place_ __cleanup(place__clear)

/* Sets place->base and whether it was chosen, rather than derived from a home directory. */
static int find_base(struct place *place, const struct invoker *inv, bool *chosen)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = inv->sudo ? NULL : getenv("HOME");

	/* The XDG specification: a relative path is to be ignored. */
	*chosen = xdg && *xdg == '/';
	if (*chosen) {
		place->base = strdup(xdg);
		return place->base ? 0 : -ENOMEM;
	}
	if (asprintf(&place->base, "%s/.cache", home && *home == '/' ? home : inv->home) < 0) {
		place->base = NULL;
		return -ENOMEM;
	}
	return 0;
}

/*
 * Until place__clear(), this thread opens and creates files as the person who asked. One
 * exception: a directory that was chosen and is root's stays root's.
 */
static int place__enter(struct place *place)
{
	struct invoker *inv = &place->inv;
	struct stat st;
	bool chosen;
	int err = invoker__get(inv);

	if (!err)
		err = find_base(place, inv, &chosen);
	if (err)
		return err;
	place->uid = geteuid();
	place->gid = getegid();
	if (!inv->sudo || (chosen && !stat(place->base, &st) && st.st_uid == place->uid))
		return 0;
	place->uid = inv->uid;
	place->gid = inv->gid;
	err = invoker__take_file_rights(inv);
	place->switched = !err;
	return err;
}

/* Only the owner may have written what is in there. */
static bool is_ours(const struct stat *st, const struct place *place)
{
	return st->st_uid == place->uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor of our directory, made where it is missing and `create`; or a negative errno. */
static int open_dir(const struct place *place, bool create)
{
	_close_ int base_fd = -1;
	_close_ int fd = -1;
	struct stat st;

	if (create && mkdir(place->base, 0700) && errno != EEXIST)
		return -errno;
	base_fd = open(place->base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (base_fd < 0)
		return -errno;
	if (create && mkdirat(base_fd, DIR_NAME, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(base_fd, DIR_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return is_ours(&st, place) ? take_fd(fd) : -EPERM;
}

#define KIND_MAX      16
#define FILE_NAME_MAX (KIND_MAX + sizeof("-.v4294967295") + 2 * PLAN_BUILD_ID_MAX)

static int file_name(const struct plan_cache_key *key, char name[FILE_NAME_MAX])
{
	char *p;

	if (!key->build_id_len || key->build_id_len > PLAN_BUILD_ID_MAX)
		return -EINVAL;
	p = name + sprintf(name, "%.*s-", KIND_MAX, key->kind);
	for (uint32_t i = 0; i < key->build_id_len; i++)
		p += sprintf(p, "%02x", key->build_id[i]);
	sprintf(p, ".v%u", key->version);
	return 0;
}

static int read_whole(int fd, const struct place *place, uint8_t **buf, size_t *len)
{
	_free_ uint8_t *p = NULL;
	struct stat st;
	size_t used = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || !is_ours(&st, place))
		return -EPERM;
	if (st.st_size > FILE_SIZE_MAX)
		return -EFBIG;
	p = malloc(st.st_size + 1);
	if (!p)
		return -ENOMEM;
	while (used < (size_t)st.st_size) {
		ssize_t n = read(fd, p + used, st.st_size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += n;
	}
	*buf = take_ptr(p);
	*len = used;
	return 0;
}

static int read_file(const struct place *place, const char *name, uint8_t **buf, size_t *len)
{
	_close_ int dir = open_dir(place, false);
	_close_ int fd = -1;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : read_whole(fd, place, buf, len);
}

/* Another run may be writing the same plan: each writes a file of its own, the last rename wins. */
static int write_file(const struct place *place, const char *name, const uint8_t *buf, size_t len)
{
	_close_ int dir = open_dir(place, true);
	_close_ int fd = -1;
	char temp[64];
	uint64_t nonce;
	struct file_writer w = {0};
	int err;

	if (dir < 0)
		return dir;
	if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
		nonce = 0;
	snprintf(temp, sizeof(temp), ".new-%d-%016llx", getpid(), (unsigned long long)nonce);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	w.fd = fd;
	err = file_writer__write(&w, buf, len);
	if (!err && renameat(dir, temp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err;
}

static void tell(const char *what, const struct place *place, const char *name, int err)
{
	diag_verbose("plan cache: %s %s/" DIR_NAME "/%s: %s", what, place->base ?: "~/.cache", name,
		     strerror(-err));
}

int plan_cache__read(const struct plan_cache_key *key, uint8_t **buf, size_t *len)
{
	_place_ struct place place = {0};
	char name[FILE_NAME_MAX];
	int err = file_name(key, name);

	if (err)
		return -ENOENT;
	err = place__enter(&place);
	if (!err)
		err = read_file(&place, name, buf, len);
	if (err && err != -ENOENT)
		tell("not using", &place, name, err);
	return err ? -ENOENT : 0;
}

int plan_cache__write(const struct plan_cache_key *key, const uint8_t *buf, size_t len)
{
	_place_ struct place place = {0};
	char name[FILE_NAME_MAX];
	int err = file_name(key, name);

	if (err)
		return err;
	err = place__enter(&place);
	if (!err)
		err = write_file(&place, name, buf, len);
	if (err)
		tell("cannot write", &place, name, err);
	return err;
}

static struct plan_cache_key key_of(const uint8_t *build_id, uint32_t len)
{
	return (struct plan_cache_key){"plan", PLAN_CODEC_VERSION, build_id, len};
}

int plan_cache__load(const uint8_t *build_id, uint32_t len, struct plan **out)
{
	struct plan_cache_key key = key_of(build_id, len);
	_plan_ struct plan *plan = NULL;
	_free_ uint8_t *buf = NULL;
	size_t size = 0;
	int err = plan_cache__read(&key, &buf, &size);

	if (err)
		return err;
	err = plan_decode(buf, size, &plan);
	if (!err && (plan->build_id_len != len || memcmp(plan->build_id, build_id, len)))
		err = -EBADMSG;
	if (err) {
		diag_verbose("plan cache: not using what is there: %s", strerror(-err));
		return -ENOENT;
	}
	*out = take_ptr(plan);
	return 0;
}

int plan_cache__store(const struct plan *plan)
{
	struct plan_cache_key key = key_of(plan->build_id, plan->build_id_len);
	_free_ uint8_t *buf = NULL;
	size_t len;
	int err;

	if (!plan->build_id_len)
		return -EINVAL;
	err = plan_encode(plan, &buf, &len);
	return err ?: plan_cache__write(&key, buf, len);
}
