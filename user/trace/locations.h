/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Assigns locindexes: a location in code as one 32-bit number, unique within a trace across all
 * libraries and processes. After Ruby's Feature #17884: the first use of a function reserves a
 * number for each of its bytes (and one more, as a return address may be its end), so that the
 * number of any pc in it is an addition. Nothing is resolved here; a reader does that.
 *
 * Beyond the original: when numbers run out, functions are refused and counted; offset 0 is a valid
 * offset; and a reader finds a range by bisection.
 */
#ifndef QPROF_TRACE_LOCATIONS_H
#define QPROF_TRACE_LOCATIONS_H

#include "base/cleanup.h"
#include "trace/trace.h"

struct locations;

/* 0, or -ENOMEM. */
int locations__new(struct locations **out);

/*
 * The locindex of `offset` in a function that the caller knows by `key` (any number that it gives
 * to no other function) and that takes `size` bytes, the same every time. *is_new: this is its
 * first use. 0; -EINVAL if offset > size; -EOVERFLOW if no numbers are left for it, now and
 * every time, though a smaller one may still fit; -ENOMEM.
 */
int locations__index(struct locations *l, uint64_t key, uint32_t size, uint32_t offset,
		     uint32_t *locindex, bool *is_new);

void locations__free(struct locations *l);
DEFINE_CLEANUP(struct locations, locations__free)
#define _locations_ __cleanup(locations__free_p)

#endif /* QPROF_TRACE_LOCATIONS_H */
