// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/guard_watch.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "budget/guard_groups.h"

/* A group of activities that is left out is tried again in one recording out of so many. */
#define TURNS 8

struct guard {
	uint32_t group;
	uint8_t kind;  /* enum wire_kind */
	bool reported; /* the first wanted guard of its kind and label: decisions are on it */
};

struct group {
	uint8_t kind;	  /* of its first guard */
	bool unnamed;	  /* has a dynamic label, on which no decision can be reported */
	bool incremental; /* only incremental compilers have such intervals */
	bool present;	  /* a guard of it is wanted */
	bool attached;	  /* and stays so */
	bool reported_off;
};

/* All zeroes: there is no such library. */
struct library {
	struct guard *guards; /* as in the plan */
	uint32_t n_guards;
	struct group *groups;
	uint32_t n_groups;
	const struct rates *known;
	struct rates *learnt;
};

struct guard_watch {
	struct probe_control probes;
	struct decision_sink sink;
	struct costs *costs;
	bool governed;
	struct command_features features; /* of any compiler so far */
	struct library libs[WIRE_WATCHED_LIBS];
};

int guard_watch__new(const struct probe_control *probes, bool governed, struct costs *costs,
		     const struct decision_sink *sink, struct guard_watch **out)
{
	struct guard_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->probes = *probes;
	w->governed = governed;
	w->costs = costs;
	w->sink = *sink;
	*out = w;
	return 0;
}

/* ---- Choosing groups ------------------------------------------------------------------------- */

static bool features_need(struct command_features features, const struct group *g)
{
	return (g->incremental && features.incremental) ||
	       (g->kind == WIRE_KIND_BLOCKED && features.threads);
}

/* By rustc's label; activities with other labels are left to the rates of earlier recordings. */
static bool is_incremental(const struct plan_guard *guard)
{
	if (guard->kind == WIRE_KIND_ACTIVITY)
		return guard->label && strstr(guard->label, "incr");
	return guard->kind == WIRE_KIND_LOAD;
}

/* No command line announces most activities, so an activity that was never met may occur now. */
static bool has_its_turn(const struct library *l, uint32_t group)
{
	return l->groups[group].kind == WIRE_KIND_ACTIVITY && (group + l->known->turn) % TURNS == 0;
}

static bool is_worth_it(const struct guard_watch *w, const struct library *l, uint32_t group)
{
	const struct group *g = &l->groups[group];

	return !w->governed || g->unnamed || !rates__never(l->known, group) ||
	       features_need(w->features, g) || has_its_turn(l, group);
}

static int attach_group(struct guard_watch *w, uint8_t lib, uint32_t group)
{
	/* Without a budget the capture has attached all guards. */
	int n = w->governed ? w->probes.add_group(w->probes.ctx, lib, group) : 0;

	w->libs[lib].groups[group].attached = n >= 0;
	return costs__charge_switch(w->costs, n);
}

static int find_groups(struct library *l, const struct plan *plan)
{
	_free_ uint32_t *group_of = calloc(plan->n_guards + 1ul, sizeof(*group_of));

	l->guards = calloc(plan->n_guards + 1ul, sizeof(*l->guards));
	l->groups = calloc(plan->n_guards + 1ul, sizeof(*l->groups));
	if (!group_of || !l->guards || !l->groups)
		return -ENOMEM;
	l->n_guards = plan->n_guards;
	l->n_groups = guard_groups_find(plan, group_of);
	for (uint32_t i = l->n_guards; i-- > 0;) {
		const struct plan_guard *guard = &plan->guards[i];
		struct group *g = &l->groups[group_of[i]];

		l->guards[i] = (struct guard){.group = group_of[i], .kind = guard->kind};
		g->kind = guard->kind;
		g->incremental |= is_incremental(guard);
		g->unnamed |= guard->kind == WIRE_KIND_ACTIVITY && !guard->label;
	}
	return 0;
}

/* One decision stands for all wanted guards of a kind without labels, and for all of a label. */
static void choose_reported(struct library *l, const struct plan *plan, const bool *wanted)
{
	for (uint32_t i = 0; i < l->n_guards; i++) {
		bool first = wanted[i];

		for (uint32_t j = 0; j < i && first; j++)
			first = !l->guards[j].reported ||
				!guards_are_alike(&plan->guards[i], &plan->guards[j]);
		l->guards[i].reported = first;
		l->groups[l->guards[i].group].present |= first;
	}
}

int guard_watch__add_library(struct guard_watch *w, uint8_t lib, const struct plan *plan,
			     const bool *wanted, const struct rates *known, struct rates *learnt)
{
	struct library *l = &w->libs[lib];
	int err;

	l->known = known;
	l->learnt = learnt;
	err = find_groups(l, plan);
	if (err)
		return err;
	choose_reported(l, plan, wanted);
	for (uint32_t i = 0; i < l->n_groups && !err; i++)
		if (l->groups[i].present && is_worth_it(w, l, i))
			err = attach_group(w, lib, i);
	return err;
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static int report(struct guard_watch *w, uint8_t lib, uint32_t group, uint64_t time_ns)
{
	const struct library *l = &w->libs[lib];
	struct session_decision d = {
		.time_ns = time_ns,
		.lib = lib,
		.watch = l->groups[group].attached ? GOVERNOR_FULL : GOVERNOR_OFF,
	};
	int err = 0;

	for (uint32_t i = 0; i < l->n_guards && !err; i++) {
		if (l->guards[i].group != group || !l->guards[i].reported)
			continue;
		d.kind = l->guards[i].kind;
		d.query = d.kind == WIRE_KIND_ACTIVITY ? i : SESSION_ALL;
		err = w->sink.decided(w->sink.ctx, &d);
	}
	return err;
}

int guard_watch__report_left_out(struct guard_watch *w, uint64_t time_ns)
{
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		for (uint32_t i = 0; i < w->libs[lib].n_groups; i++) {
			struct group *g = &w->libs[lib].groups[i];
			int err;

			if (!g->present || g->attached || g->reported_off)
				continue;
			g->reported_off = true;
			err = report(w, lib, i, time_ns);
			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- Attaching later ------------------------------------------------------------------------- */

static bool is_due(const struct guard_watch *w, const struct group *g)
{
	return g->present && !g->attached && features_need(w->features, g);
}

bool guard_watch__note_features(struct guard_watch *w, struct command_features features)
{
	w->features.incremental |= features.incremental;
	w->features.threads |= features.threads;
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++)
		for (uint32_t i = 0; i < w->libs[lib].n_groups; i++)
			if (is_due(w, &w->libs[lib].groups[i]))
				return true;
	return false;
}

/* -EAGAIN: the library is being written to, and detached soon. */
static int attach_due(struct guard_watch *w, uint8_t lib, uint32_t group)
{
	int err = attach_group(w, lib, group);

	if (err == -EAGAIN)
		return 0;
	return err ?: report(w, lib, group, clock_ns(CLOCK_MONOTONIC));
}

int guard_watch__attach_late(struct guard_watch *w)
{
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		for (uint32_t i = 0; i < w->libs[lib].n_groups; i++) {
			int err = is_due(w, &w->libs[lib].groups[i]) ? attach_due(w, lib, i) : 0;

			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- Learning -------------------------------------------------------------------------------- */

/* Waiting and loading are one group each, whichever query the interval is about. */
static uint32_t group_of(const struct library *l, const struct wire_span *r)
{
	if (r->kind == WIRE_KIND_ACTIVITY)
		return r->query < l->n_guards ? l->guards[r->query].group : l->n_groups;
	for (uint32_t i = 0; i < l->n_groups; i++)
		if (l->groups[i].kind == r->kind)
			return i;
	return l->n_groups;
}

void guard_watch__saw(struct guard_watch *w, const struct wire_span *r)
{
	const struct library *l;
	uint32_t group;

	if (r->lib >= WIRE_WATCHED_LIBS)
		return;
	l = &w->libs[r->lib];
	group = group_of(l, r);
	if (group < l->n_groups)
		l->learnt->groups[group].hits++;
}

void guard_watch__used_cpu(struct guard_watch *w, uint8_t lib, double cpu_s)
{
	const struct library *l = &w->libs[lib];

	for (uint32_t i = 0; i < l->n_groups; i++)
		if (l->groups[i].attached)
			l->learnt->groups[i].cpu_s += cpu_s;
}

void guard_watch__free(struct guard_watch *w)
{
	if (!w)
		return;
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		free(w->libs[lib].guards);
		free(w->libs[lib].groups);
	}
	free(w);
}
