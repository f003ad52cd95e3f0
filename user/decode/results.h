/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The numbers of results of queries that a compiler had when it was read, of one image. */
#ifndef QPROF_DECODE_RESULTS_H
#define QPROF_DECODE_RESULTS_H

#include "plan/plan.h"
#include "decode/item_results.h"
#include "decode/library.h"
#include "decode/sink.h"

struct results_feed {
	uint64_t cache; /* address, or number of the query */
	uint64_t n;
	uint32_t *at; /* which of its results these are, where that is known */
	uint32_t n_at, at_capacity;
};

/* Of a compiler without probes; those beyond are not counted. */
#define RESULTS_PAST_MAX 4

/* All zeroes is empty. */
struct results {
	/* Of a query context that may get a reading at its drop; `n` queries. */
	struct wire_count *reading;
	uint32_t n;
	uint32_t got;	 /* of these, so far: all pieces came in order */
	uint8_t moment;	 /* enum wire_counts_moment of the reading */
	bool no_loads;	 /* of the reading's results, whatever is known of the compiler */
	uint64_t *loads; /* of results, so far: those that come later are not in the reading */
	bool over;	 /* the context of the reading was dropped, and its keys may follow */
	bool closed;	 /* the keys that come are not those of the reading */
	struct item_results items;
	/* The sums of those before; TRACE_KIND_RESULTS_AT_LEAST: of one it was unknown. */
	struct trace_tally *sums;
	/* By cache: how many results it was fed. */
	struct results_feed *feeds;
	uint32_t n_feeds, feeds_capacity;
	uint32_t n_fed_at; /* of all caches */
	bool records_lost; /* of what was fed or loaded there may be more */
	uint32_t *fed;	   /* of the reading's queries, when it was made */
	uint64_t context;  /* of the reading */
	/* While it runs: a reading that is not whole yet, and contexts before that of the reading.
	 */
	struct wire_count *next;
	uint32_t n_next, n_past;
	uint64_t past[RESULTS_PAST_MAX];
};

/* Whether some results were loaded from the disk, by what is known of the compiler. */
enum results_loads {
	RESULTS_NO_LOADS,
	RESULTS_LOADS_SEEN,   /* each load was recorded, up to the moment of WIRE_COUNTS_FINISHED */
	RESULTS_LOADS_UNSEEN, /* some may not have been: it ran before its probes were there */
	RESULTS_NO_LOADS_LATE, /* likewise, but there are none */
};

/*
 * Add a record of a compiler that uses `lib`. 0, -ENOMEM, or -EBADMSG: it makes no sense. *lost
 * grows by the queries of a context that is over whose results are in none of its readings, and by
 * those whose keys are not.
 */
int results__add(struct results *r, const struct library *lib, enum results_loads loads,
		 const struct wire_counts *record, uint64_t *lost);

/* Add keys of results. 0, -ENOMEM, or -EBADMSG. */
int results__add_keys(struct results *r, const struct library *lib, const struct wire_piece *piece);

/* The context was dropped: no more readings of it come. 0 or -ENOMEM. */
int results__drop(struct results *r, const struct library *lib, enum results_loads loads,
		  uint64_t *lost);

/* A result of a query of `lib` was loaded from the disk, or looked for. 0 or -ENOMEM. */
int results__load(struct results *r, const struct library *lib, uint32_t query);

/* A cache was fed a result. 0 or -ENOMEM. */
int results__fed(struct results *r, const struct library *lib, const struct wire_fed *record);

/* The process is over, which may not have dropped its context. */
void results__end(struct results *r, const struct library *lib, enum results_loads loads,
		  uint64_t *lost);

/* After that, give the sink the sums of process `process`, and forget them. As sink. */
int results__give(struct results *r, const struct library *lib, const struct decoder_sink *sink,
		  uint32_t process);

/*
 * Give the sink what results__give() would give now, by the last reading, which the next one
 * replaces. Nothing is forgotten.
 */
int results__show(const struct results *r, const struct library *lib, enum results_loads loads,
		  const struct decoder_sink *sink, uint32_t process);

void results__clear(struct results *r);

#endif /* QPROF_DECODE_RESULTS_H */
