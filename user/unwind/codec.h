/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An unwind table as bytes, as a store keeps it. All numbers are little endian:
 *
 *   magic, revision (u32 each)
 *   checksum of all that follows (u64)
 *   start (u64)
 *   pages, rules, segments, bytes of tables, rows, functions, unreadable, refused (u32 each)
 *   segments: addr, offset, size (u64 each)
 *   rules: cfa (u32), rbp (u16), base, rbp_is (u8 each)
 *   directory: offset of a page's table, or 0xffffffff (u32 each)
 *   tables
 *
 * No promise of compatibility: another revision is not read.
 */
#ifndef QPROF_UNWIND_CODEC_H
#define QPROF_UNWIND_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

/* Raise it with every change of the encoding. The Makefile adds a checksum of the code. */
#define UNWIND_CODEC_VERSION 1

#define UNWIND_CODEC_CHECKED_FROM 16 /* behind the checksum */
#define UNWIND_CODEC_HEADER	  56 /* in front of the segments */

/* Set magic, revision and checksum of bytes of at least UNWIND_CODEC_CHECKED_FROM; for tests. */
void unwind_codec__seal(uint8_t *buf, size_t len);

/* 0 and *buf (malloc'd, the caller's), or -ENOMEM. */
int unwind_encode(const struct unwind_table *t, uint8_t **buf, size_t *len);

/* True if they begin as unwind_encode() of this state of the code begins. */
bool unwind_is_current(const uint8_t *buf, size_t len);

/*
 * 0 and a table the caller frees, whose pc-value tables stay in `buf`; the caller gives it `bytes`
 * or `map`, or frees it first. -EBADMSG if the bytes are not exactly one table of this version,
 * with all counts and offsets in their ranges, or -ENOMEM. The pc-value tables themselves are not
 * decoded: no look-up trusts them. Prints nothing.
 */
int unwind_decode(const uint8_t *buf, size_t len, struct unwind_table **out);

#endif /* QPROF_UNWIND_CODEC_H */
