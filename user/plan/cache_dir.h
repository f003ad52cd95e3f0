/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The two directories that cache.h describes: opened with care, read and written whole. */
#ifndef QPROF_PLAN_CACHE_DIR_H
#define QPROF_PLAN_CACHE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum cache_dir_kind {
	CACHE_DIR_SYSTEM, /* only root can write to it, and to every directory above it */
	CACHE_DIR_USER,	  /* only our effective user, or root, can write to it */
};

struct cache_dir;

/* For messages. */
const char *cache_dir_name(enum cache_dir_kind kind);

/* Made where it is missing, if `create`. Negative errno; -EPERM if others may write there. */
int cache_dir__open(enum cache_dir_kind kind, bool create, struct cache_dir **out);

/* The file, or -EPERM if another user may have written it. *buf is the caller's to free. */
int cache_dir__read(const struct cache_dir *s, const char *name, uint8_t **buf, size_t *len);

/*
 * As cache_dir__read(), but map the file, which is the caller's to munmap(). Large files are there
 * ten times as fast. They are replaced and never truncated, except by a user who may write to the
 * store: SIGBUS then ends only that user's own process.
 */
int cache_dir__map(const struct cache_dir *s, const char *name, void **map, size_t *len);

/* Write the file whole or not at all, in place of the old one. */
int cache_dir__write(const struct cache_dir *s, const char *name, const uint8_t *buf, size_t len);

/*
 * Remove the files that `name` replaces: other files whose names begin with the same `prefix`
 * bytes; the oldest files with the same `kind` bytes, if they are many; and the remains of a killed
 * writer.
 */
void cache_dir__prune(const struct cache_dir *s, const char *name, size_t prefix, size_t kind);

void cache_dir__free(struct cache_dir *s);
DEFINE_CLEANUP(struct cache_dir, cache_dir__free)
#define _cache_dir_ __cleanup(cache_dir__free_p)

#endif /* QPROF_PLAN_CACHE_DIR_H */
