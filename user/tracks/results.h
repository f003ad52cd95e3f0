/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The numbers of results of queries that a compiler had when it was read, of one image. */
#ifndef QPROF_TRACKS_RESULTS_H
#define QPROF_TRACKS_RESULTS_H

#include "plan/plan.h"
#include "tracks/library.h"
#include "tracks/sink.h"

/* All zeroes is empty. */
struct results {
	/* Of a query context that may get a reading at its drop; `n` queries. */
	struct wire_count *reading;
	uint32_t n;
	uint32_t got;	 /* of these, so far: all pieces came in order */
	uint8_t moment;	 /* enum wire_counts_moment of the reading */
	uint64_t *loads; /* of results, so far: those that come later are not in the reading */
	/* The sums of those before. */
	struct trace_tally *sums;
	uint32_t n_sums;
};

/* Whether some results were loaded from the disk, by what is known of the compiler. */
enum results_loads {
	RESULTS_NO_LOADS,
	RESULTS_LOADS_SEEN,   /* each load was recorded, up to the moment of WIRE_COUNTS_FINISHED */
	RESULTS_LOADS_UNSEEN, /* some may not have been: it ran before its probes were there */
};

/*
 * Add a record of a compiler that uses `lib`. 0, -ENOMEM, or -EBADMSG: it makes no sense.
 */
int results__add(struct results *r, const struct library *lib, enum results_loads loads,
		 const struct wire_counts *record);

/* A result of a query of `lib` was loaded from the disk, or looked for. 0 or -ENOMEM. */
int results__load(struct results *r, const struct library *lib, uint32_t query);

/* Give the sink the sums of process `process`, and forget them. As sink. */
int results__give(struct results *r, const struct library *lib, enum results_loads loads,
		  const struct tracks_sink *sink, uint32_t process);

void results__clear(struct results *r);

#endif /* QPROF_TRACKS_RESULTS_H */
