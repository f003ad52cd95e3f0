/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which queries to watch so that probes take no more than a budget of the compilers' CPU time. Pure
 * decisions: it is told what was seen and what it took, and says what to watch next. It knows no
 * kernel; who asks it takes probes away and puts them back.
 *
 * Each execution meets a start probe of its query, and an end probe that all queries of a set
 * share. Either can be taken away: the starts of a query, or the ends of a set. With both, each
 * execution is recorded; with its start alone, counted, at half of the cost. Without its start,
 * nothing is known of it.
 *
 * What is taken away first is what is worth least per probe hit that it saves: the worth of
 * recording is the time that the executions take, that of an exact count is small and the same for
 * each query. So it is the hottest and shortest queries that go first, and lose their times before
 * their counts. What was taken away is tried again when there is room, after a while that doubles
 * each time it has to go again.
 *
 * The budget is kept over the whole run: what was spent too much has to be saved.
 */
#ifndef QPROF_CAPTURE_GOVERNOR_H
#define QPROF_CAPTURE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

enum governor_watch {
	GOVERNOR_FULL,	  /* each execution is recorded */
	GOVERNOR_COUNTED, /* each is counted */
	GOVERNOR_OFF,	  /* not seen */
};

struct governor_query {
	uint32_t set; /* from 0 */
	/*
	 * It starts at its wrapper, whose end is told by its set's probes only if all starts of the
	 * set are seen: recorded only while all of the set is, and never counted.
	 */
	bool wrapped;
	/* As earlier recordings had it: executions per second of CPU time; 0: unknown, or none. */
	double rate;
	uint64_t mean_ns; /* 0: unknown */
};

/*
 * What earlier recordings told of a library is where the next one begins: what would not fit is not
 * watched from the start. Then probes come and go less, too: phases may take more than their share
 * while it is saved before or after.
 */

/* Sums since the beginning. */
struct governor_load {
	uint64_t now_ns;
	uint64_t cpu_ns;   /* of the compilers */
	uint64_t spent_ns; /* of it, by hits */
	uint64_t other_ns; /* and by probes that came and went */
	uint64_t hits;
};

struct governor;

int governor__new(uint64_t budget_ppm, struct governor **out);

/*
 * Add the queries of a library, which are numbered on from `*base`, and its sets from `*set_base`;
 * all are watched. -ENOMEM.
 */
int governor__add(struct governor *g, const struct governor_query *queries, uint32_t n,
		  uint32_t n_sets, uint32_t *base, uint32_t *set_base);

/*
 * Before any of it was seen: take away what will not fit if the queries are as frequent as their
 * `rate` says. A hit takes `hit_ps` picoseconds; `load->other_ns` is what a compiler takes to
 * start. Does nothing if no rates are known.
 */
void governor__foresee(struct governor *g, const struct governor_load *load, uint64_t hit_ps);

/* `n` more executions of a query were recorded, or counted. `ns`: what the recorded ones took. */
void governor__recorded(struct governor *g, uint32_t query, uint64_t n, uint64_t ns);
void governor__counted(struct governor *g, uint32_t query, uint64_t n);

/* Decide anew. True if anything is to be watched otherwise than before. */
bool governor__tick(struct governor *g, const struct governor_load *load);

/* What is to be there. */
bool governor__wants_starts(const struct governor *g, uint32_t query);
bool governor__wants_ends(const struct governor *g, uint32_t set);
enum governor_watch governor__watch(const struct governor *g, uint32_t query);

/*
 * What is off is watched for one tick now and then, in turns. Whether a query is to be counted
 * until the next tick for that alone; and whether it was, until this one.
 */
bool governor__samples(const struct governor *g, uint32_t query);
bool governor__sampled(const struct governor *g, uint32_t query);

/*
 * Executions per second of CPU time: in the last tick that it was watched in, and for a while
 * before. And their mean duration.
 */
double governor__sample(const struct governor *g, uint32_t query);
double governor__rate(const struct governor *g, uint32_t query);
uint64_t governor__mean_ns(const struct governor *g, uint32_t query);

/* The share of CPU time that probes took lately. */
uint64_t governor__cost_ppm(const struct governor *g);

void governor__free(struct governor *g);
DEFINE_CLEANUP(struct governor, governor__free)
#define _governor_ __cleanup(governor__free_p)

#endif /* QPROF_CAPTURE_GOVERNOR_H */
