/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Plans kept between runs, one file per build-id, in $XDG_CACHE_HOME/qprof-bpf, or else in
 * ~/.cache/qprof-bpf. Under sudo both belong to the user who ran it, and every access is made with
 * that user's rights, so that root follows no link that user could not, and a later run without
 * root finds the plan.
 *
 * A cache that cannot be used is no error: it is told with -v only.
 */
#ifndef QPROF_PLAN_CACHE_H
#define QPROF_PLAN_CACHE_H

#include <stdint.h>

#include "plan/plan.h"

/*
 * The plan stored for this build-id: 0 and a plan the caller frees, or -ENOENT if there is none
 * that can be trusted. Its path is that of the file it was made from, then.
 */
int plan_cache__load(const uint8_t *build_id, uint32_t len, struct plan **out);

/* Store it, whole or not at all, in place of what was there. 0, or a negative errno to ignore. */
int plan_cache__store(const struct plan *plan);

/* What else is known of a library, in a file of its own. `kind` is the beginning of its name. */
struct plan_cache_key {
	const char *kind;
	uint32_t version;
	const uint8_t *build_id;
	uint32_t build_id_len;
};

/* Its bytes, which may be anybody's and are the caller's to free; -ENOENT if there are none. */
int plan_cache__read(const struct plan_cache_key *key, uint8_t **buf, size_t *len);

/* As plan_cache__store(). */
int plan_cache__write(const struct plan_cache_key *key, const uint8_t *buf, size_t len);

#endif /* QPROF_PLAN_CACHE_H */
