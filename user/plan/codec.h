/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A plan as bytes, as the cache keeps it: magic, version, revision, CRC-32, length, then every
 * field in order, little-endian. No promise of compatibility: another version or revision is not
 * read.
 */
#ifndef QPROF_PLAN_CODEC_H
#define QPROF_PLAN_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

/*
 * Raise it with every change to struct plan or to its encoding. The results of mining change more
 * often: for these the revision is a checksum that the Makefile makes of all code in user/plan.
 */
#define PLAN_CODEC_VERSION 17

/* 0 and *buf (malloc'd, the caller's), or -ENOMEM. */
int plan_encode(const struct plan *plan, uint8_t **buf, size_t *len);

/*
 * 0 and a plan the caller frees, -EBADMSG if the bytes are not exactly one plan of this version
 * with every index, count and enum in its range, or -ENOMEM. Prints nothing.
 */
int plan_decode(const uint8_t *buf, size_t len, struct plan **out);

#endif /* QPROF_PLAN_CODEC_H */
