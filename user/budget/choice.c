// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/choice.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Sums over a set. */
struct set {
	double ends;	       /* the cost of its ends */
	double starts, worth;  /* of the queries whose starts are taken */
	double wrapped_starts; /* of its wrapped queries */
	double wrapped_worth;
	uint32_t n_off; /* queries that are not wrapped and whose starts are not taken */
};

/* The cost that goes if a query's starts, or the ends of a set, go. */
struct step {
	bool found;
	bool is_set;
	uint32_t of;
	double cost, worth;
};

/* Whether `a` costs more for what it is worth than `b`; a step that costs nothing never goes. */
static bool is_better(const struct step *a, const struct step *b)
{
	if (a->cost <= 0)
		return false;
	return !b->found || a->cost * b->worth > b->cost * a->worth;
}

static void consider(struct step *best, bool is_set, uint32_t of, double cost, double worth)
{
	const struct step s = {true, is_set, of, cost, worth};

	if (is_better(&s, best))
		*best = s;
}

static struct step find_step(const struct choice *c, const struct set *sets)
{
	struct step best = {};

	for (uint32_t i = 0; i < c->n_queries; i++) {
		const struct choice_query *q = &c->queries[i];
		const struct set *s = &sets[q->set];
		bool first = !s->n_off;

		if (!c->starts[i] || q->wrapped)
			continue;
		/* The first starts to go take the wrapped queries along. */
		consider(&best, false, i, q->starts + (first ? s->wrapped_starts : 0),
			 q->worth + (first ? s->wrapped_worth : 0));
	}
	for (uint32_t i = 0; i < c->n_sets; i++)
		if (c->ends[i])
			consider(&best, true, i, sets[i].ends + sets[i].starts, sets[i].worth);
	return best;
}

static void drop_query(struct choice *c, struct set *s, uint32_t i)
{
	const struct choice_query *q = &c->queries[i];

	if (!c->starts[i])
		return;
	c->starts[i] = false;
	s->n_off += !q->wrapped;
	s->starts -= q->starts;
	s->worth -= q->worth;
}

/* Drop a set, or the queries of it that are wrapped. */
static void drop_of_set(struct choice *c, struct set *sets, uint32_t set, bool only_wrapped)
{
	for (uint32_t i = 0; i < c->n_queries; i++)
		if (c->queries[i].set == set && (!only_wrapped || c->queries[i].wrapped))
			drop_query(c, &sets[set], i);
	c->ends[set] &= only_wrapped;
}

static void take_away(struct choice *c, struct set *sets)
{
	while (c->cost > c->room) {
		struct step s = find_step(c, sets);

		if (!s.found)
			return;
		if (s.is_set) {
			drop_of_set(c, sets, s.of, false);
		} else {
			uint32_t set = c->queries[s.of].set;

			drop_query(c, &sets[set], s.of);
			drop_of_set(c, sets, set, true);
		}
		c->cost -= s.cost;
	}
}

/* Sets that went early may fit beside what is left in the end. */
static void return_sets(struct choice *c, const struct set *sets, const double *starts)
{
	for (uint32_t i = 0; i < c->n_sets; i++) {
		double cost = sets[i].ends + starts[i];

		if (c->ends[i] || c->cost + cost > c->room)
			continue;
		c->ends[i] = true;
		c->cost += cost;
		for (uint32_t k = 0; k < c->n_queries; k++)
			c->starts[k] |= c->queries[k].set == i;
	}
}

/* So do the starts of single queries, if the ends of their set are there. */
static void return_queries(struct choice *c)
{
	for (uint32_t i = 0; i < c->n_queries; i++) {
		const struct choice_query *q = &c->queries[i];

		if (c->starts[i] || q->wrapped || !c->ends[q->set] || c->cost + q->starts > c->room)
			continue;
		c->starts[i] = true;
		c->cost += q->starts;
	}
}

int choice__make(struct choice *c)
{
	_free_ struct set *sets = calloc(c->n_sets + 1UL, sizeof(*sets));
	_free_ double *starts = calloc(c->n_sets + 1UL, sizeof(*starts)); /* of all queries */

	if (!sets || !starts)
		return -ENOMEM;
	c->cost = 0;
	for (uint32_t i = 0; i < c->n_sets; i++) {
		c->ends[i] = true;
		sets[i].ends = c->sets[i];
		c->cost += c->sets[i];
	}
	for (uint32_t i = 0; i < c->n_queries; i++) {
		const struct choice_query *q = &c->queries[i];
		struct set *s = &sets[q->set];

		c->starts[i] = true;
		s->ends += q->ends;
		s->starts += q->starts;
		starts[q->set] += q->starts;
		s->worth += q->worth;
		s->wrapped_starts += q->wrapped ? q->starts : 0;
		s->wrapped_worth += q->wrapped ? q->worth : 0;
		c->cost += q->ends + q->starts;
	}
	take_away(c, sets);
	return_sets(c, sets, starts);
	return_queries(c);
	return 0;
}
