/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Of a reader: of which type the key of each query is. */
#ifndef QPROF_TRACE_KEY_TYPES_H
#define QPROF_TRACE_KEY_TYPES_H

#include <stdint.h>

#include "trace/bytes.h"

/* All zeroes is a file that lists none. */
struct key_types {
	uint32_t *type_of; /* by the string id of a query's name: that of the type, plus 1; or 0 */
	uint32_t n;
};

/*
 * Take the payload of a KEYS chunk of a file with `n_strings` strings up to there. 0, -ENOMEM, or
 * -EBADMSG if it is not as the specification says.
 */
int key_types__take(struct key_types *k, struct byte_reader *in, uint32_t n_strings);

/* The string id of a query's type, or TRACE_NO_STRING. */
uint32_t key_types__get(const struct key_types *k, uint32_t label);

void key_types__destroy(struct key_types *k);

#endif /* QPROF_TRACE_KEY_TYPES_H */
