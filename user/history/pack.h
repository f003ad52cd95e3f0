/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows of one crate of one build, of the table query or item, as bytes. They are split in two:
 *
 * - The shape has what builds of the same source have in common: keys (numbers of names, strictly
 *   increasing) and the exact numbers of each row. Many builds refer to one shape.
 * - The times have what differs from build to build. A row of the shape may be absent in a build.
 *
 *	shape	count of rows; then by column: keys as differences, numbers + 1 (0: unknown)
 *	times	by row: 0 absent, 1 unknown, else 2 + the code of the first time; of each further
 *		time 0 unknown, else 1 + the zigzag difference of its code to that of the first
 *
 * All are varints of trace/bytes.h. The code of a time is its microseconds below 2,048; above, 11
 * significant bits of them. Both round to the nearest. So a decoded time is off by at most 0.5 us
 * or 0.05 %, and rounding it again changes nothing.
 */
#ifndef QPROF_HISTORY_PACK_H
#define QPROF_HISTORY_PACK_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "trace/bytes.h"

#define PACK_UNKNOWN UINT64_MAX
#define PACK_EXACT   4 /* numbers of a row, at most */
#define PACK_TIMES   3
#define PACK_ROWS    (1u << 16)

struct pack_format {
	unsigned int exact;
	unsigned int times; /* at least 1 */
};

struct pack_row {
	uint64_t key;
	uint64_t exact[PACK_EXACT];
	uint64_t times[PACK_TIMES]; /* ns */
	bool absent;
};

/* `n` rows of `capacity`; all zeroes is empty. */
struct pack_rows {
	struct pack_row *at;
	uint32_t n;
	uint32_t capacity;
};

void pack_rows__clear(struct pack_rows *p);
#define _pack_rows_ __cleanup(pack_rows__clear)

/* A time as it is after it was packed. */
uint64_t pack_rounded(uint64_t ns);

/* Append the shape or the times to `out`, whose `failed` tells of a lack of memory. */
void pack_shape__encode(struct byte_buffer *out, const struct pack_format *f,
			const struct pack_rows *rows);
void pack_times__encode(struct byte_buffer *out, const struct pack_format *f,
			const struct pack_rows *rows);

/* The rows of a shape, with unknown times. 0, -EBADMSG if the bytes are no shape, -ENOMEM. */
int pack_shape__decode(const uint8_t *bytes, size_t size, const struct pack_format *f,
		       struct pack_rows *rows);

/*
 * Set the times of the rows of a shape. -EBADMSG if the bytes are no times of that many rows; some
 * are set then.
 */
int pack_times__decode(const uint8_t *bytes, size_t size, const struct pack_format *f,
		       struct pack_rows *rows);

/*
 * Add to `shape`, which has no times, the times of `rows`; rows of the shape that are not among
 * these become absent. False if the shape lacks one of them, or has it with other numbers.
 */
bool pack_rows__fit(struct pack_rows *shape, const struct pack_format *f,
		    const struct pack_rows *rows);

/*
 * Make a shape of the rows of both: the rows in `out` have the times of `rows`, or are absent. 0;
 * -EEXIST if the two have a row with different numbers; -ENOMEM.
 */
int pack_rows__unite(const struct pack_rows *shape, const struct pack_format *f,
		     const struct pack_rows *rows, struct pack_rows *out);

#endif /* QPROF_HISTORY_PACK_H */
