/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The two directories that cache.h describes: opened with care, read and written whole. */
#ifndef QPROF_PLAN_STORE_H
#define QPROF_PLAN_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum store_kind {
	STORE_SYSTEM, /* only root can write to it, and to every directory above it */
	STORE_USER,   /* only our effective user, or root, can write to it */
};

struct store;

/* For messages. */
const char *store_name(enum store_kind kind);

/* Made where it is missing, if `create`. Negative errno; -EPERM if others may write there. */
int store__open(enum store_kind kind, bool create, struct store **out);

/* The file, or -EPERM if another user may have written it. *buf is the caller's to free. */
int store__read(const struct store *s, const char *name, uint8_t **buf, size_t *len);

/*
 * As store__read(), but map the file, which is the caller's to munmap(). Large files are there ten
 * times as fast. They are replaced and never truncated, except by a user who may write to the
 * store: SIGBUS then ends only that user's own process.
 */
int store__map(const struct store *s, const char *name, void **map, size_t *len);

/* Write the file whole or not at all, in place of the old one. */
int store__write(const struct store *s, const char *name, const uint8_t *buf, size_t len);

/*
 * Remove the files that `name` replaces: other files whose names begin with the same `prefix`
 * bytes; the oldest files with the same `kind` bytes, if they are many; and the remains of a killed
 * writer.
 */
void store__prune(const struct store *s, const char *name, size_t prefix, size_t kind);

void store__free(struct store *s);
DEFINE_CLEANUP(struct store, store__free)
#define _store_ __cleanup(store__free_p)

#endif /* QPROF_PLAN_STORE_H */
