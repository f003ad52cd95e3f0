// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/budget.h"

#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "budget/guard_groups.h"
#include "budget/learning.h"

struct budget {
	struct budget_limit limit;
	uint32_t sample_hz;
	struct costs costs;
	struct budget_sink sink;
	struct learning *learning;
	struct rates *known[LEARNING_LIBS]; /* of earlier recordings */
	/* Decisions before a process could be in the trace. */
	struct session_decision *waiting;
	uint32_t n_waiting;
	uint32_t room;
};

int budget__new(struct budget_limit limit, uint32_t sample_hz, const struct budget_sink *sink,
		struct budget **out)
{
	_budget_ struct budget *b = calloc(1, sizeof(*b));
	int err = b ? learning__new(&b->learning) : -ENOMEM;

	if (err)
		return err;
	b->limit = limit;
	b->sample_hz = sample_hz;
	b->sink = *sink;
	*out = take_ptr(b);
	return 0;
}

void budget__give_up(struct budget *b)
{
	b->limit.ppm = 0;
}

void budget__set_cost(struct budget *b, uint64_t hit_ps)
{
	costs__set_hit(&b->costs, hit_ps);
	learning__set_costs(b->learning, &b->costs);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

static uint32_t count(const bool *of, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += of[i];
	return sum;
}

int budget__choose(struct budget *b, const struct budget_library *l, struct chosen **out)
{
	_rates_ struct rates *known = NULL;
	struct chosen_input in = {
		.plan = l->plan,
		.sites = l->sites,
		.queries = l->queries,
		.budget_ppm = b->limit.ppm,
		.only_queries = b->limit.only_queries,
		.sampled_ppm = costs_of_samples_ppm(b->sample_hz),
		.costs = b->costs,
	};
	int err = rates__load(l->plan, &known);

	in.known = known;
	err = err ?: chosen__new(&in, out);
	if (err || !b->limit.ppm)
		return err;
	diag_verbose("%u of %u queries are probed, by %u of %u probes, %s; that and samples "
		     "should take %" PRIu64 " ppm of the CPU time",
		     count((*out)->queries, l->plan->n_queries), l->plan->n_queries,
		     count((*out)->sites, l->plan->n_sites), count(l->sites, l->plan->n_sites),
		     rates__is_empty(known) ? "by what is usual, as nothing is remembered of this "
					      "library"
					    : "by what is remembered of this library",
		     (*out)->cost_ppm);
	return 0;
}

static int decide(struct budget *b, uint8_t lib, const struct chosen *c, uint8_t kind,
		  uint32_t query)
{
	if (array__reserve_one(&b->waiting, b->n_waiting, &b->room, sizeof(*b->waiting)))
		return -ENOMEM;
	b->waiting[b->n_waiting++] = (struct session_decision){
		.time_ns = clock_ns(CLOCK_MONOTONIC),
		.cost_ppm = c->cost_ppm,
		.budget_ppm = b->limit.ppm,
		.query = query,
		.kind = kind,
		.lib = lib,
	};
	return 0;
}

/* One decision stands for all guards of a kind without labels, and for all of a label. */
static bool is_first_alike(const struct budget_library *l, uint32_t guard)
{
	for (uint32_t i = 0; i < guard; i++)
		if (l->guards[i] && guards_are_alike(&l->plan->guards[i], &l->plan->guards[guard]))
			return false;
	return l->guards[guard];
}

static int decide_all(struct budget *b, uint8_t lib, const struct budget_library *l,
		      const struct chosen *c)
{
	int err = 0;

	for (uint32_t i = 0; i < l->plan->n_queries && !err; i++)
		if (l->queries[i] && c->has_starts[i] && !c->queries[i])
			err = decide(b, lib, c, WIRE_KIND_QUERY, i);
	for (uint32_t i = 0; i < l->plan->n_guards && !err; i++) {
		uint8_t kind = l->plan->guards[i].kind;

		if (!c->groups[c->group_of[i]] && is_first_alike(l, i))
			err = decide(b, lib, c, kind, kind == WIRE_KIND_ACTIVITY ? i : SESSION_ALL);
	}
	return err;
}

int budget__add_library(struct budget *b, uint8_t lib, const struct budget_library *l,
			const struct chosen *chosen)
{
	int err = learning__add_library(b->learning, lib, l->plan, l->queries, chosen);

	if (!err && lib < LEARNING_LIBS && !b->known[lib])
		err = rates__load(l->plan, &b->known[lib]);
	return err ?: decide_all(b, lib, l, chosen);
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* A trace takes none before its first process. */
static int report(struct budget *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n_waiting && !err; i++)
		err = b->sink.decision(b->sink.ctx, &b->waiting[i]);
	b->n_waiting = 0;
	return err;
}

int budget__record(struct budget *b, const void *record, size_t size)
{
	int err = learning__record(b->learning, record, size);

	return err || !size || *(const wire_u8 *)record != WIRE_THREAD ? err : report(b);
}

int budget__tick(struct budget *b)
{
	learning__tick(b->learning);
	return 0;
}

int budget__finish(struct budget *b)
{
	int err = report(b);

	learning__end(b->learning);
	for (uint8_t lib = 0; lib < LEARNING_LIBS && !err; lib++) {
		if (!b->known[lib])
			continue;
		rates__add(b->known[lib], learning__of(b->learning, lib));
		b->known[lib]->turn += b->limit.ppm != 0;
		rates__store(b->known[lib]);
	}
	return err;
}

void budget__free(struct budget *b)
{
	if (!b)
		return;
	for (uint8_t lib = 0; lib < LEARNING_LIBS; lib++)
		rates__free(b->known[lib]);
	learning__free(b->learning);
	free(b->waiting);
	free(b);
}
