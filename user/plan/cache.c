// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "plan/cache_dir.h"
#include "plan/codec.h"

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

/* The user's store is only for libraries that the user could change anyway. */
static bool may_use(const struct plan_cache_key *key, enum cache_dir_kind kind)
{
	if (key->advice)
		return true;
	return key->id->lasting && (kind == CACHE_DIR_SYSTEM || key->id->uid == geteuid());
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

/* A file of a cache in memory. */
struct content {
	bool map; /* it is mapped, not read */
	void *bytes;
	size_t len;
};

static int take_content(const struct cache_dir *s, const char *name, struct content *c)
{
	uint8_t *bytes;
	int err;

	if (c->map)
		return cache_dir__map(s, name, &c->bytes, &c->len);
	err = cache_dir__read(s, name, &bytes, &c->len);
	if (!err)
		c->bytes = bytes;
	return err;
}

static int read_from(enum cache_dir_kind kind, const struct plan_cache_key *key, const char *name,
		     struct content *c)
{
	_cache_dir_ struct cache_dir *s = NULL;
	int err = may_use(key, kind) ? cache_dir__open(kind, false, &s) : -ENOENT;

	if (!err)
		err = take_content(s, name, c);
	if (err && err != -ENOENT)
		diag_verbose("plan cache: not using %s of %s: %s", name, cache_dir_name(kind),
			     strerror(-err));
	return err;
}

static int read_any(const struct plan_cache_key *key, bool *by_root, struct content *c)
{
	char name[FILE_NAME_MAX];
	size_t prefix;

	if (file_name(key, name, &prefix))
		return -ENOENT;
	*by_root = !read_from(CACHE_DIR_SYSTEM, key, name, c);
	if (*by_root)
		return 0;
	return geteuid() && !read_from(CACHE_DIR_USER, key, name, c) ? 0 : -ENOENT;
}

int plan_cache__read(const struct plan_cache_key *key, uint8_t **buf, size_t *len)
{
	struct content c = {};
	bool by_root;
	int err = read_any(key, &by_root, &c);

	if (err)
		return err;
	*buf = c.bytes;
	*len = c.len;
	return 0;
}

int plan_cache__map(const struct plan_cache_key *key, void **map, size_t *len)
{
	struct content c = {.map = true};
	bool by_root;
	int err = read_any(key, &by_root, &c);

	if (err)
		return err;
	*map = c.bytes;
	*len = c.len;
	return 0;
}

int plan_cache__write(const struct plan_cache_key *key, const uint8_t *buf, size_t len)
{
	enum cache_dir_kind kind = geteuid() ? CACHE_DIR_USER : CACHE_DIR_SYSTEM;
	_cache_dir_ struct cache_dir *s = NULL;
	char name[FILE_NAME_MAX];
	size_t prefix;
	int err = file_name(key, name, &prefix);

	if (err || !may_use(key, kind) || !may_fill(key))
		return err ?: -EPERM;
	err = cache_dir__open(kind, true, &s) ?: cache_dir__write(s, name, buf, len);
	if (err)
		diag_verbose("plan cache: cannot write %s to %s: %s", name, cache_dir_name(kind),
			     strerror(-err));
	else
		cache_dir__prune(s, name, prefix, strlen(key->kind) + 1);
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

static int load(const struct plan_cache_key *key, bool *by_root, struct plan **out)
{
	struct content c = {};
	int err = read_any(key, by_root, &c);

	if (err)
		return err;
	err = plan_decode(c.bytes, c.len, out);
	free(c.bytes);
	if (err)
		diag_verbose("plan cache: not using what is there: %s", strerror(-err));
	return err ? -ENOENT : 0;
}

int plan_cache__load(const struct library_identity *id, bool *by_root, struct plan **out)
{
	/* The best first. */
	static const enum symbol_source sources[] = {SYMBOLS_OF_LIBRARY, SYMBOLS_OF_BUILD_ID,
						     SYMBOLS_RECOVERED};
	int err = -ENOENT;

	for (size_t i = 0; err && i < N_OF(sources); i++) {
		const struct plan_cache_key key = key_of(id, sources[i]);

		err = load(&key, by_root, out);
	}
	return err;
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
