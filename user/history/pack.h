/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows of one crate of one build, of the table query or item, as bytes. They are split in two:
 *
 * - The shape has what builds of the same source have in common: keys (numbers of names, strictly
 *   increasing), the exact numbers of each row, and the times of the build that it was made for.
 *   Many builds refer to one shape.
 * - The times are differences to those. A row of the shape may be absent in a build.
 *
 *	shape	count of rows; keys as differences; by column of numbers 1 and their common
 *		value, or 0 and all values, each + 1 (0: unknown); by column of times the codes
 *	times	bits: 1 if rows may be absent, 1 if times may be unknown; by column of times 3 bits,
 *		how much less than usual they differ. By row 1 if it is absent; else by time 1 if it
 *		is unknown; else how its code differs from what is expected, zigzag, as Rice code
 *
 * The shape consists of varints of trace/bytes.h; codes are those of history/time_code.h. Rounding
 * a time again changes nothing.
 */
#ifndef QPROF_HISTORY_PACK_H
#define QPROF_HISTORY_PACK_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "trace/bytes.h"

#define PACK_UNKNOWN UINT64_MAX
#define PACK_EXACT   5 /* numbers of a row, at most */
#define PACK_TIMES   3
#define PACK_ROWS    (1u << 16)

struct pack_format {
	unsigned int exact;
	unsigned int times; /* at least 1, but for a shape alone */
};

struct pack_row {
	uint64_t key;
	uint64_t exact[PACK_EXACT];
	uint64_t times[PACK_TIMES];    /* ns */
	uint32_t expected[PACK_TIMES]; /* codes of the times of the shape's first build */
	uint8_t usual[PACK_TIMES];     /* of a decoded shape: low bits of differences to these */
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

/* A time, or PACK_UNKNOWN, as it is after it was packed. */
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
 * Set the times of the rows of a shape; with `key` other than 0 only of that row, and what follows
 * it is not looked at. -EBADMSG if the bytes are no times of that many rows; some are set then.
 */
int pack_times__decode(const uint8_t *bytes, size_t size, const struct pack_format *f, uint64_t key,
		       struct pack_rows *rows);

/* The row of a key; or NULL. Keys increase. */
struct pack_row *pack_rows__find(const struct pack_rows *rows, uint64_t key);

/*
 * Add to `shape`, which has no times, the times of `rows`; rows of the shape that are not among
 * these become absent. False if the shape lacks one of them, or has it with other numbers.
 */
bool pack_rows__fit(struct pack_rows *shape, const struct pack_format *f,
		    const struct pack_rows *rows);

/*
 * Make a shape of the rows of both: those of `rows` have their times and expect them, the others
 * are absent. 0;
 * -EEXIST if the two have a row with different numbers; -ENOMEM.
 */
int pack_rows__unite(const struct pack_rows *shape, const struct pack_format *f,
		     const struct pack_rows *rows, struct pack_rows *out);

#endif /* QPROF_HISTORY_PACK_H */
