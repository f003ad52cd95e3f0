/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Decides which queries to watch so that probes take no more than a budget of the compilers' CPU
 * time. It knows no kernel: its input is the executions that were seen and what they cost, and the
 * caller attaches and detaches probes.
 *
 * Each execution meets a start probe of its query, and an end probe that all queries of a set
 * share. The starts of a query and the ends of a set can be detached separately. With both, each
 * execution is recorded; with its start alone it is counted, at half of the cost; without its start
 * nothing is known of it.
 *
 * The governor first detaches the probes that are worth least per hit that is saved. Recording is
 * worth the time that the executions take; an exact count has a small worth, the same for each
 * query. So the hottest and shortest queries are detached first, and lose their times before their
 * counts. When there is room, detached probes are tried again, after a pause that doubles each time
 * they have to go again.
 *
 * The budget is kept over the whole run: overspent time has to be saved later.
 */
#ifndef QPROF_BUDGET_GOVERNOR_H
#define QPROF_BUDGET_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

enum governor_watch {
	GOVERNOR_FULL,	  /* each execution is recorded */
	GOVERNOR_COUNTED, /* each is counted */
	GOVERNOR_OFF,	  /* none is seen */
};

struct governor_query {
	uint32_t set; /* from 0 */
	/*
	 * The query starts at its wrapper. Its end is recognized only if all starts of its set are
	 * seen, so it is recorded only while the whole set is, and never counted.
	 */
	bool wrapped;
	/* From earlier recordings: executions per second of CPU time; 0: unknown, or none. */
	double rate;
	uint64_t mean_ns; /* 0: unknown */
};

/*
 * A recording begins with the rates of earlier ones: queries that would not fit are not watched
 * from the start. Then probes are also switched less often: a phase may take more than its share if
 * that is saved before or after.
 */

/* Sums since the beginning. */
struct governor_load {
	uint64_t now_ns;
	uint64_t cpu_ns;   /* of the compilers */
	uint64_t spent_ns; /* of it, on hits */
	uint64_t other_ns; /* and on installing and switching probes */
	uint64_t hits;
};

struct governor;

int governor__new(uint64_t budget_ppm, struct governor **out);

/*
 * Add the queries and sets of a library, which get the numbers from `*base` and `*set_base` on. All
 * are watched. -ENOMEM.
 */
int governor__add(struct governor *g, const struct governor_query *queries, uint32_t n,
		  uint32_t n_sets, uint32_t *base, uint32_t *set_base);

/*
 * Before the first execution: stop watching what will not fit if the queries are as frequent as
 * their `rate` says. A hit takes `hit_ps` picoseconds; `load->other_ns` is the CPU time to install
 * the probes in a compiler. Does nothing if no rates are known.
 */
void governor__foresee(struct governor *g, const struct governor_load *load, uint64_t hit_ps);

/* `n` more executions of a query were recorded and took `ns` together, or were counted. */
void governor__recorded(struct governor *g, uint32_t query, uint64_t n, uint64_t ns);
void governor__counted(struct governor *g, uint32_t query, uint64_t n);

/* Decide anew. True if any query or set is to be watched in another way than before. */
bool governor__tick(struct governor *g, const struct governor_load *load);

/* Whether the starts of a query, or the ends of a set, are to be attached. */
bool governor__wants_starts(const struct governor *g, uint32_t query);
bool governor__wants_ends(const struct governor *g, uint32_t set);
enum governor_watch governor__watch(const struct governor *g, uint32_t query);

/*
 * Queries that are off are sampled in turns: counted for one tick now and then. Whether a query is
 * sampled until the next tick, and whether it was until this one.
 */
bool governor__samples(const struct governor *g, uint32_t query);
bool governor__sampled(const struct governor *g, uint32_t query);

/*
 * Executions per second of CPU time in the last tick in which the query was watched, and on average
 * for a while before. And their mean duration.
 */
double governor__sample(const struct governor *g, uint32_t query);
double governor__rate(const struct governor *g, uint32_t query);
uint64_t governor__mean_ns(const struct governor *g, uint32_t query);

/* The share of CPU time that probes took lately. */
uint64_t governor__cost_ppm(const struct governor *g);

void governor__free(struct governor *g);

#endif /* QPROF_BUDGET_GOVERNOR_H */
