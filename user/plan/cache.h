/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Plans kept between runs, one file per library, in one of two stores:
 *
 * - the system's, /var/cache/qprof-bpf. Only root writes there, and everybody may read it. Under
 *   root, with sudo too, it is the only one. Root may choose another place by XDG_CACHE_HOME, if
 *   only root can write to that and to everything above it;
 * - the user's, $XDG_CACHE_HOME/qprof-bpf or ~/.cache/qprof-bpf, without root, for libraries that
 *   the user owns, and for root's if the program file gives no rights.
 *
 * Both keep only what concerns libraries of root and of the invoker, so that those of other users
 * drive nothing out. A recording plans these anew.
 *
 * A file is known by its inode (library_file.h), so a copy of a library is another library. Plans
 * are proven before they are stored, by the process that stores them. One from the user's store is
 * proven again (proof.h).
 *
 * A store that cannot be used is no error: only -v prints a line about it.
 */
#ifndef QPROF_PLAN_CACHE_H
#define QPROF_PLAN_CACHE_H

#include <stdint.h>

#include "plan/library/file.h"
#include "plan/plan.h"

/*
 * The plan stored for this file: 0 and a plan the caller frees, without path; or -ENOENT.
 * *by_root: it comes from the system's store, so root has proven it for a file of this identity.
 */
int plan_cache__load(const struct library_identity *id, bool *by_root, struct plan **out);

/*
 * Store a proven plan, whole or not at all, in place of the old one. 0, or a negative errno, which
 * the caller may ignore.
 */
int plan_cache__store(const struct library_identity *id, const struct plan *plan);

/* A plan as it is stored: without the paths of files. 0 and *buf, the caller's; or -ENOMEM. */
int plan_cache__encode(const struct plan *plan, uint8_t **buf, size_t *len);

/* Other data about a library, in a file of its own, whose name begins with `kind`. */
struct plan_cache_key {
	const char *kind;
	uint32_t version;
	const struct library_identity *id;
};

/* Its bytes, mapped to be read, and the caller's to munmap(). -ENOENT if there are none. */
int plan_cache__map(const struct plan_cache_key *key, void **map, size_t *len);

/* As plan_cache__store(). */
int plan_cache__write(const struct plan_cache_key *key, const uint8_t *buf, size_t len);

#endif /* QPROF_PLAN_CACHE_H */
