/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Assigns one id to every different string, dense from 0. A string is a text, or a sequence of
 * texts and earlier strings. The interner keeps a copy of each, so its memory grows with the names
 * of a capture, not with its length.
 */
#ifndef QPROF_TRACE_INTERNER_H
#define QPROF_TRACE_INTERNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/bytes.h"
#include "trace/trace.h"

struct interned;

/* All zeroes is an empty one. */
struct interner {
	struct interned *strings;
	uint32_t n;
	uint32_t capacity;
	uint64_t bytes;	       /* of all strings, as they are stored */
	struct u64_map newest; /* hash -> the last string that had it */
	struct byte_buffer key;
};

/*
 * The id of `text`; *is_new says whether this call made it. -ENOMEM; -E2BIG beyond what a trace
 * may hold. An error adds nothing.
 */
int interner__id(struct interner *t, const char *text, uint32_t *id, bool *is_new);

/*
 * The id of the pieces in a row. Empty pieces are left out; if one piece remains, the id is its
 * own. -EINVAL for a piece that is no string of `t`; else as interner__id(). The same text, cut in
 * another way, is another string.
 */
int interner__compose(struct interner *t, const struct trace_piece *pieces, uint32_t n,
		      uint32_t *id, bool *is_new);

/* Append string `id` to `out` as a STRINGS chunk stores it. */
void interner__store(const struct interner *t, uint32_t id, struct byte_buffer *out);

/* Append the text of string `id` to `out`, without a NUL. */
void interner__text(const struct interner *t, uint32_t id, struct byte_buffer *out);

void interner__destroy(struct interner *t);

/*
 * Of a reader: for some strings another one that belongs to it. KEYS: the type of a query's key;
 * FILES: the path of the file with a build id.
 */

/* All zeroes is a file that lists none. */
struct string_pairs {
	uint32_t *second_of; /* by the id of the first string: that of the second, plus 1; or 0 */
	uint32_t n;
};

/*
 * Take the payload of a KEYS or FILES chunk of a file with `n_strings` strings up to there. 0,
 * -ENOMEM, or -EBADMSG if it is not as the specification says.
 */
int string_pairs__take(struct string_pairs *p, struct byte_reader *in, uint32_t n_strings);

/* The string id of what belongs to a string, or TRACE_NO_STRING. */
uint32_t string_pairs__get(const struct string_pairs *p, uint32_t first);

void string_pairs__destroy(struct string_pairs *p);

#endif /* QPROF_TRACE_INTERNER_H */
