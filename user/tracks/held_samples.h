/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples that wait until the functions of their frames are looked up: the process and the interval
 * of each are known already. First in, first out.
 */
#ifndef QPROF_TRACKS_HELD_SAMPLES_H
#define QPROF_TRACKS_HELD_SAMPLES_H

#include <stddef.h>

#include "qprof/wire.h"
#include "trace/trace.h"
#include "tracks/library.h"

/* All zeroes is empty. */
struct held_samples {
	char *bytes;
	size_t used, capacity;
};

struct held_sample {
	struct trace_sample sample; /* without a stack, or one without frames */
	const struct library *lib;  /* that has a frame in the stack; NULL: none */
	struct wire_sample wire;
};

/* The frames of `s->wire` that are not there take no room. 0 or -ENOMEM. */
int held_samples__add(struct held_samples *h, const struct held_sample *s);

/* The sample at *at, which then is the place of the next one; 0 is the first. False: no more. */
bool held_samples__next(const struct held_samples *h, size_t *at, struct held_sample *out);

/* Forget them all; the memory is kept. */
void held_samples__empty(struct held_samples *h);

void held_samples__clear(struct held_samples *h);

#endif /* QPROF_TRACKS_HELD_SAMPLES_H */
