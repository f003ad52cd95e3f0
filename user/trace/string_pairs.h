/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Of a reader: for some strings another one that belongs to it. KEYS: the type of a query's key;
 * FILES: the path of the file with a build id.
 */
#ifndef QPROF_TRACE_STRING_PAIRS_H
#define QPROF_TRACE_STRING_PAIRS_H

#include <stdint.h>

#include "trace/bytes.h"

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

#endif /* QPROF_TRACE_STRING_PAIRS_H */
