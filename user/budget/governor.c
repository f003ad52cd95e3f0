// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/governor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NS 1e9

/* CPU time within which over- or underspending is made up for. */
#define HORIZON_NS 150e6
/* The same if rates are known: phases even out, and switching costs too. */
#define FORESEEN_HORIZON_NS 400e6
/* With saved budget, the probes may take this many times the budget at most. */
#define MOST_CREDIT	     1.2
#define FORESEEN_MOST_CREDIT 3.0
/* In debt, this share of the budget is left, for rare queries, which cost little. */
#define LEAST_SHARE 0.1
/* Rates, and the cost of probes, are averages over about this much CPU time. */
#define SMOOTHING_NS	      20e6
#define FORESEEN_SMOOTHING_NS 60e6
/*
 * A query is detached at its peak, and mostly gets rarer after that. So the rate for estimates is
 * an average over a longer time.
 */
#define LEVEL_NS 80e6
/* The worth of an exact count, in seconds of recorded time per second. */
#define WORTH_OF_COUNT 0.003
/* Queries this rare cost nothing: executions per second. */
#define RARE 50.0
/* So many executions in a tick show the rate of a query. */
#define ENOUGH 8
/* A detached query is left alone for so long at first, and at most. */
#define HOLD_NS	     400000000ull
#define HOLD_MOST_NS 3200000000ull
/* A query that is off is sampled in one tick out of so many, in turns. */
#define TICKS_PER_SAMPLE 300
/* The pause before a query that is off is sampled; the second one if rates are known. */
#define SAMPLE_NS	   HOLD_NS
#define FORESEEN_SAMPLE_NS 3200000000ull
/* Share of the allowed hits that is planned for with known rates. */
#define FORESEEN_SHARE 0.8
/* How often room is looked for, and how much of it is filled. */
#define LOOK_NS		 100000000ull
#define FORESEEN_LOOK_NS 500000000ull
#define ROOM_SHARE	 0.5

/* The starts of a query, or the ends of a set. */
struct switched {
	bool wanted;
	uint64_t changed_ns;
	uint64_t hold_ns;
};

struct query {
	struct governor_query is;
	struct switched starts;
	double rate;   /* recent, per second of CPU time; rises at once */
	double level;  /* average over LEVEL_NS in which it was watched */
	double sample; /* of the last tick in which it was watched */
	uint64_t seen; /* since the last tick */
	bool sampled;  /* counted for this tick, though it is off */
	bool was_sampled;
	uint64_t seen_ns;  /* when it was last watched */
	uint64_t pause_ns; /* from then until it is sampled again */
	uint64_t recorded;
	uint64_t recorded_ns;
};

/* Hits per second, and seconds of recorded time per second. */
struct weight {
	double hits;
	double worth;
};

struct set {
	struct switched ends;
	uint32_t n_off;		  /* queries that are not wrapped and whose starts are not wanted */
	struct weight of_ends;	  /* weigh_sets() */
	struct weight of_wrapped; /* of its wrapped queries */
};

struct governor {
	double budget;
	struct query *queries;
	struct set *sets;
	uint32_t n_queries;
	uint32_t n_sets;
	struct governor_load last;
	double hit_rate; /* recent, per second of CPU time */
	double hit_cost; /* seconds */
	uint64_t looked_ns;
	uint32_t next_sample;
	bool foreseen; /* rates of earlier recordings are known */
	bool changed;
};

int governor__new(uint64_t budget_ppm, struct governor **out)
{
	struct governor *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->budget = (double)budget_ppm / 1e6;
	*out = g;
	return 0;
}

int governor__add(struct governor *g, const struct governor_query *queries, uint32_t n,
		  uint32_t n_sets, uint32_t *base, uint32_t *set_base)
{
	struct query *more = reallocarray(g->queries, g->n_queries + n + 1ul, sizeof(*more));
	struct set *sets;

	if (!more)
		return -ENOMEM;
	g->queries = more;
	sets = reallocarray(g->sets, g->n_sets + n_sets + 1ul, sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	g->sets = sets;
	*base = g->n_queries;
	*set_base = g->n_sets;
	for (uint32_t i = 0; i < n_sets; i++)
		sets[g->n_sets++] = (struct set){.ends = {.wanted = true}};
	for (uint32_t i = 0; i < n; i++) {
		struct query *q = &more[g->n_queries++];

		*q = (struct query){
			.is = queries[i],
			.starts = {.wanted = true},
			.rate = queries[i].rate,
			.level = queries[i].rate,
			.sample = queries[i].rate,
			.recorded = queries[i].mean_ns > 0,
			.recorded_ns = queries[i].mean_ns,
			.pause_ns = queries[i].rate > 0 ? FORESEEN_SAMPLE_NS : SAMPLE_NS,
		};
		q->is.set += *set_base;
		g->foreseen |= queries[i].rate > 0;
	}
	return 0;
}

void governor__recorded(struct governor *g, uint32_t query, uint64_t n, uint64_t ns)
{
	struct query *q = &g->queries[query];

	q->seen += n;
	q->recorded += n;
	q->recorded_ns += ns;
}

void governor__counted(struct governor *g, uint32_t query, uint64_t n)
{
	g->queries[query].seen += n;
}

/* ---- State ----------------------------------------------------------------------------------- */

static bool is_whole(const struct set *s)
{
	return s->ends.wanted && !s->n_off;
}

static bool starts_wanted(const struct governor *g, const struct query *q)
{
	return q->is.wrapped ? is_whole(&g->sets[q->is.set]) : q->starts.wanted;
}

bool governor__wants_starts(const struct governor *g, uint32_t query)
{
	return starts_wanted(g, &g->queries[query]);
}

bool governor__wants_ends(const struct governor *g, uint32_t set)
{
	return g->sets[set].ends.wanted;
}

enum governor_watch governor__watch(const struct governor *g, uint32_t query)
{
	const struct query *q = &g->queries[query];

	if (!starts_wanted(g, q))
		return GOVERNOR_OFF;
	return g->sets[q->is.set].ends.wanted ? GOVERNOR_FULL : GOVERNOR_COUNTED;
}

bool governor__samples(const struct governor *g, uint32_t query)
{
	return g->queries[query].sampled;
}

bool governor__sampled(const struct governor *g, uint32_t query)
{
	return g->queries[query].was_sampled;
}

double governor__rate(const struct governor *g, uint32_t query)
{
	return g->queries[query].level;
}

double governor__sample(const struct governor *g, uint32_t query)
{
	return g->queries[query].sample;
}

uint64_t governor__mean_ns(const struct governor *g, uint32_t query)
{
	const struct query *q = &g->queries[query];

	return q->recorded ? q->recorded_ns / q->recorded : 0;
}

uint64_t governor__cost_ppm(const struct governor *g)
{
	return (uint64_t)(g->hit_rate * g->hit_cost * 1e6);
}

/* ---- Worth and cost -------------------------------------------------------------------------- */

static double time_of(const struct governor *g, const struct query *q)
{
	uint64_t mean = governor__mean_ns(g, (uint32_t)(q - g->queries));

	return q->rate * (double)mean / NS;
}

/* The starts of a query: hits and worth that go or come with them. */
static struct weight of_starts(const struct governor *g, uint32_t query)
{
	const struct query *q = &g->queries[query];
	const struct set *s = &g->sets[q->is.set];
	struct weight w = {q->rate, WORTH_OF_COUNT};

	if (!s->ends.wanted)
		return w;
	w.worth += time_of(g, q);
	/* The first starts to go take the wrapped queries along, the last to come bring them. */
	if (s->n_off == !q->starts.wanted) {
		w.hits += s->of_wrapped.hits;
		w.worth += s->of_wrapped.worth;
	}
	return w;
}

/* Add a query to the weights of its set. All executions hit the ends, seen or not. */
static void weigh_query(struct governor *g, const struct query *q)
{
	struct set *s = &g->sets[q->is.set];
	double time = time_of(g, q);

	s->of_ends.hits += q->rate;
	if (q->is.wrapped ? !s->n_off : q->starts.wanted)
		s->of_ends.worth += time;
	if (!q->is.wrapped)
		return;
	s->of_wrapped.hits += q->rate;
	s->of_wrapped.worth += time;
	/* The starts of wrapped queries go and come with the ends. */
	if (!s->n_off)
		s->of_ends.hits += q->rate;
}

static void weigh_set(struct governor *g, uint32_t set)
{
	g->sets[set].of_ends = g->sets[set].of_wrapped = (struct weight){0};
	for (uint32_t i = 0; i < g->n_queries; i++)
		if (g->queries[i].is.set == set)
			weigh_query(g, &g->queries[i]);
}

static void weigh_sets(struct governor *g)
{
	for (uint32_t i = 0; i < g->n_sets; i++)
		g->sets[i].of_ends = g->sets[i].of_wrapped = (struct weight){0};
	for (uint32_t i = 0; i < g->n_queries; i++)
		weigh_query(g, &g->queries[i]);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void change(struct governor *g, struct switched *u)
{
	uint64_t now = g->last.now_ns;

	u->wanted = !u->wanted;
	if (!u->wanted) {
		bool again = u->hold_ns && now - u->changed_ns < 2 * u->hold_ns;

		u->hold_ns = again ? 2 * u->hold_ns : HOLD_NS;
		if (u->hold_ns > HOLD_MOST_NS)
			u->hold_ns = HOLD_MOST_NS;
	}
	u->changed_ns = now;
	g->changed = true;
}

static bool may_return(const struct governor *g, const struct switched *u)
{
	return !u->wanted && g->last.now_ns - u->changed_ns >= u->hold_ns;
}

/* A possible change: of the starts of a query, or of the ends of a set. */
struct step {
	bool found;
	bool ends;
	uint32_t of;
	struct weight weight;
};

static void take(struct governor *g, const struct step *s)
{
	struct query *q = s->ends ? NULL : &g->queries[s->of];

	change(g, q ? &q->starts : &g->sets[s->of].ends);
	if (q && q->starts.wanted)
		g->sets[q->is.set].n_off--;
	else if (q)
		g->sets[q->is.set].n_off++;
	weigh_set(g, q ? q->is.set : s->of);
}

/* Keep the change that is worth least, or most, per hit. */
static void consider_less(struct step *best, bool ends, uint32_t of, struct weight w)
{
	if (w.hits < RARE)
		return;
	if (!best->found || w.worth * best->weight.hits < best->weight.worth * w.hits)
		*best = (struct step){true, ends, of, w};
}

static void consider_more(struct step *best, bool ends, uint32_t of, struct weight w, double room)
{
	if (w.hits > room)
		return;
	if (!best->found || w.worth * best->weight.hits > best->weight.worth * w.hits)
		*best = (struct step){true, ends, of, w};
}

static struct step worth_least(const struct governor *g)
{
	struct step best = {0};

	for (uint32_t i = 0; i < g->n_queries; i++)
		if (g->queries[i].starts.wanted && !g->queries[i].is.wrapped)
			consider_less(&best, false, i, of_starts(g, i));
	for (uint32_t i = 0; i < g->n_sets; i++)
		if (g->sets[i].ends.wanted)
			consider_less(&best, true, i, g->sets[i].of_ends);
	return best;
}

static struct step worth_most(const struct governor *g, double room)
{
	struct step best = {0};

	for (uint32_t i = 0; i < g->n_queries; i++)
		if (may_return(g, &g->queries[i].starts))
			consider_more(&best, false, i, of_starts(g, i), room);
	for (uint32_t i = 0; i < g->n_sets; i++)
		if (may_return(g, &g->sets[i].ends))
			consider_more(&best, true, i, g->sets[i].of_ends, room);
	return best;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* Rises at once, as an excess is spent while the governor waits; falls slowly. */
static void follow(double *rate, double now, double share)
{
	*rate = now > *rate ? now : *rate + (now - *rate) * share;
}

/* Executions that are reported late, after a detach, say nothing about the rate. */
static void measure_query(const struct governor *g, struct query *q, double cpu, double share)
{
	bool watched = starts_wanted(g, q);

	if (watched || q->sampled) {
		q->seen_ns = g->last.now_ns;
		q->sample = (double)q->seen / cpu;
		q->level += (q->sample - q->level) * (1 - exp(-cpu * NS / LEVEL_NS));
	}
	if (q->sampled) {
		/* While samples confirm the rate, they become rarer. */
		q->pause_ns = q->sample < q->rate / 2 ? SAMPLE_NS : 2 * q->pause_ns;
		q->rate = (q->rate + q->sample) / 2;
	} else if (watched) {
		/* A few executions may be chance, and would make a rare query look frequent. */
		if (q->seen >= ENOUGH)
			follow(&q->rate, q->sample, share);
		else
			q->rate += (q->sample - q->rate) * share;
	}
	q->was_sampled = q->sampled;
	q->sampled = false;
	q->seen = 0;
}

static void measure(struct governor *g, const struct governor_load *load)
{
	double cpu = (double)(load->cpu_ns - g->last.cpu_ns) / NS;
	double share = 1 - exp(-cpu * NS / SMOOTHING_NS);
	double hit_rate = (double)(load->hits - g->last.hits) / cpu;

	if (load->hits)
		g->hit_cost = (double)load->spent_ns / (double)load->hits / NS;
	if (g->foreseen)
		g->hit_rate +=
			(hit_rate - g->hit_rate) * (1 - exp(-cpu * NS / FORESEEN_SMOOTHING_NS));
	else
		follow(&g->hit_rate, hit_rate, share);
	for (uint32_t i = 0; i < g->n_queries; i++)
		measure_query(g, &g->queries[i], cpu, share);
}

/* Hits per second that are allowed from now on. */
static double allowed_rate(const struct governor *g)
{
	double spent = (double)g->last.spent_ns + (double)g->last.other_ns;
	double credit = g->budget * (double)g->last.cpu_ns - spent;
	double share = g->budget + credit / (g->foreseen ? FORESEEN_HORIZON_NS : HORIZON_NS);
	double most = g->budget * (g->foreseen ? FORESEEN_MOST_CREDIT : MOST_CREDIT);

	if (share > most)
		share = most;
	if (share < LEAST_SHARE * g->budget)
		share = LEAST_SHARE * g->budget;
	return share / g->hit_cost;
}

static void take_away(struct governor *g, double allowed)
{
	while (g->hit_rate > allowed) {
		struct step s = worth_least(g);

		if (!s.found)
			return;
		take(g, &s);
		g->hit_rate -= s.weight.hits < g->hit_rate ? s.weight.hits : g->hit_rate;
	}
}

static void give_back(struct governor *g, double allowed)
{
	double room = allowed * ROOM_SHARE - g->hit_rate;

	g->looked_ns = g->last.now_ns;
	while (room > 0) {
		struct step s = worth_most(g, room);

		if (!s.found)
			return;
		take(g, &s);
		g->hit_rate += s.weight.hits;
		room -= s.weight.hits;
	}
}

void governor__foresee(struct governor *g, const struct governor_load *load, uint64_t hit_ps)
{
	if (!g->foreseen || !hit_ps)
		return;
	g->last.now_ns = g->looked_ns = load->now_ns;
	g->last.other_ns = load->other_ns;
	g->hit_cost = (double)hit_ps / 1e12;
	g->hit_rate = 0;
	weigh_sets(g);
	for (uint32_t i = 0; i < g->n_queries; i++) {
		const struct query *q = &g->queries[i];

		g->queries[i].seen_ns = load->now_ns;
		g->hit_rate += q->rate * (starts_wanted(g, q) + g->sets[q->is.set].ends.wanted);
	}
	take_away(g, allowed_rate(g) * FORESEEN_SHARE);
}

/* Choose some of the queries that are off, in turns. */
static void choose_samples(struct governor *g)
{
	uint32_t n = g->n_queries / TICKS_PER_SAMPLE + 1;

	for (; n && g->n_queries; n--) {
		struct query *q = &g->queries[g->next_sample++ % g->n_queries];

		q->sampled = !starts_wanted(g, q) && g->last.now_ns - q->seen_ns >= q->pause_ns;
		g->changed |= q->sampled;
	}
}

bool governor__tick(struct governor *g, const struct governor_load *load)
{
	double allowed;

	/* Too little CPU time to measure rates. */
	if (load->cpu_ns < g->last.cpu_ns + 1000000)
		return false;
	measure(g, load);
	g->last = *load;
	g->changed = true;
	if (g->hit_cost == 0)
		return false;
	allowed = allowed_rate(g);
	weigh_sets(g);
	if (g->hit_rate > allowed)
		take_away(g, allowed);
	else if (load->now_ns - g->looked_ns >= (g->foreseen ? FORESEEN_LOOK_NS : LOOK_NS))
		give_back(g, allowed);
	choose_samples(g);
	return g->changed;
}

void governor__free(struct governor *g)
{
	if (!g)
		return;
	free(g->queries);
	free(g->sets);
	free(g);
}
