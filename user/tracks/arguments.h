/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The arguments of activities: from what the kernel half read to the text that rustc records. */
#ifndef QPROF_TRACKS_ARGUMENTS_H
#define QPROF_TRACKS_ARGUMENTS_H

#include "qprof/wire.h"
#include "tracks/sink.h"

/* All zeroes is empty. */
struct arguments {
	uint32_t *strings; /* by number: the id of the text's string, plus 1 */
	uint32_t n;
};

/* A record of `size` bytes, which may leave out the end of its text. -EBADMSG, -ENOMEM, or the
 * sink's error. */
int arguments__record(struct arguments *a, const struct tracks_sink *sink, const void *record,
		      size_t size);

/* The string of an argument; TRACE_NO_STRING if it did not come. */
uint32_t arguments__string(const struct arguments *a, uint64_t argument);

void arguments__clear(struct arguments *a);

#endif /* QPROF_TRACKS_ARGUMENTS_H */
