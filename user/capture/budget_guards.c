// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Probes of activities, waiting and loading. Few of them are ever hit, but each new compiler pays
 * for all that are there. With a budget, those that earlier recordings never met are left out, for
 * the whole recording, and that is told. Waiting and loading come later if a compiler's command
 * line says that it may have threads, or be incremental.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/budget_state.h"
#include "capture/guard_groups.h"
#include "capture/processes.h"
#include "capture/programs.h"
#include "capture/units.h"

/* What is left out is tried again in one recording out of so many. */
#define TURNS 8

/* ---- Command lines --------------------------------------------------------------------------- */

static bool mentions(const char *args, size_t len, const char *word)
{
	return memmem(args, len, word, strlen(word)) != NULL;
}

/* Of `len` bytes of NUL-separated arguments, of which more may have been `cut` off. */
static struct command_says read_arguments(const char *args, size_t len, bool cut)
{
	/* A file of arguments is not read. */
	bool hidden = !len || cut || args[0] == '@' || memmem(args, len, "\0@", 2);

	return (struct command_says){
		.incremental = hidden || mentions(args, len, "incremental"),
		.threads = hidden || mentions(args, len, "threads="),
	};
}

struct command_says budget_command_of(pid_t pid)
{
	char args[16384];
	size_t len = process_arguments(pid, args, sizeof(args));

	return read_arguments(args, len, len == sizeof(args));
}

/* ---- What is attached ------------------------------------------------------------------------ */

static bool is_said(const struct command_says *says, const struct watched_group *g)
{
	return (g->incremental && says->incremental) ||
	       (g->kind == WIRE_KIND_BLOCKED && says->threads);
}

/* Those of which rustc's labels say it; others are left to what is remembered. */
static bool is_incremental(const struct plan_guard *guard)
{
	if (guard->kind == WIRE_KIND_ACTIVITY)
		return guard->label && strstr(guard->label, "incr");
	return guard->kind == WIRE_KIND_LOAD;
}

/* Of most activities no command line tells; what was not met once may be now. */
static bool has_its_turn(const struct budget *b, uint8_t lib, uint32_t group)
{
	return b->guards[lib].groups[group].kind == WIRE_KIND_ACTIVITY &&
	       (group + b->known[lib]->turn) % TURNS == 0;
}

static bool is_worth_it(const struct budget *b, uint8_t lib, uint32_t group)
{
	const struct watched_group *g = &b->guards[lib].groups[group];

	return !b->budget_ppm || g->unnamed || !rates__never(b->known[lib], group) ||
	       is_said(&b->some_say, g) || has_its_turn(b, lib, group);
}

static int attach_group(struct budget *b, uint8_t lib, uint32_t group)
{
	struct watched_group *g = &b->guards[lib].groups[group];
	int err = b->budget_ppm ? units__add_group(kernel__units(b->kernel, lib), group) : 0;

	g->attached = err >= 0;
	return budget__pay(b, err);
}

static int allocate(struct watched_guards *w, const struct plan *plan)
{
	_free_ uint32_t *group_of = calloc(plan->n_guards + 1ul, sizeof(*group_of));

	w->guards = calloc(plan->n_guards + 1ul, sizeof(*w->guards));
	w->groups = calloc(plan->n_guards + 1ul, sizeof(*w->groups));
	if (!group_of || !w->guards || !w->groups)
		return -ENOMEM;
	w->n = plan->n_guards;
	w->n_groups = guard_groups_find(plan, group_of);
	for (uint32_t i = w->n; i-- > 0;) {
		const struct plan_guard *guard = &plan->guards[i];
		struct watched_group *g = &w->groups[group_of[i]];

		w->guards[i] = (struct watched_guard){.group = group_of[i], .kind = guard->kind};
		g->kind = guard->kind;
		g->incremental |= is_incremental(guard);
		g->unnamed |= guard->kind == WIRE_KIND_ACTIVITY && !guard->label;
	}
	return 0;
}

/* One decision speaks for all of a kind that have no label of their own, and for all of a label. */
static void choose_speakers(struct watched_guards *w, const struct choice *c)
{
	for (uint32_t i = 0; i < w->n; i++) {
		bool first = c->guards[i];

		for (uint32_t j = 0; j < i && first; j++)
			first = !w->guards[j].tells ||
				!guards_are_alike(&c->plan->guards[i], &c->plan->guards[j]);
		w->guards[i].tells = first;
		w->groups[w->guards[i].group].present |= first;
	}
}

int budget__add_guards(struct budget *b, uint8_t lib, const struct plan *plan)
{
	struct watched_guards *w = &b->guards[lib];
	_choice_ struct choice c = {0};
	int err = choice__init(&c, plan, b->filter, lib, false);

	if (!err)
		err = allocate(w, plan);
	if (err)
		return err;
	choose_speakers(w, &c);
	for (uint32_t i = 0; i < w->n_groups && !err; i++)
		if (w->groups[i].present && is_worth_it(b, lib, i))
			err = attach_group(b, lib, i);
	return err;
}

/* ---- What is told ---------------------------------------------------------------------------- */

static int tell_group(struct budget *b, uint8_t lib, uint32_t group, uint64_t now_ns)
{
	const struct watched_guards *w = &b->guards[lib];
	struct session_decision d = {
		.time_ns = now_ns,
		.cost_ppm = governor__cost_ppm(b->governor),
		.budget_ppm = b->budget_ppm,
		.lib = lib,
		.watch = w->groups[group].attached ? GOVERNOR_FULL : GOVERNOR_OFF,
	};
	int err = 0;

	for (uint32_t i = 0; i < w->n && !err; i++) {
		if (w->guards[i].group != group || !w->guards[i].tells)
			continue;
		d.kind = w->guards[i].kind;
		d.query = d.kind == WIRE_KIND_ACTIVITY ? i : SESSION_ALL;
		err = b->sink.decision(b->sink.ctx, &d);
	}
	return err;
}

int budget__tell_foreseen_guards(struct budget *b)
{
	int err = 0;

	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		struct watched_guards *w = &b->guards[lib];

		for (uint32_t i = 0; i < w->n_groups && !err; i++) {
			struct watched_group *g = &w->groups[i];

			if (!g->present || g->attached || g->told_off)
				continue;
			err = tell_group(b, lib, i, b->added_ns);
			g->told_off = true;
		}
	}
	return err;
}

/* ---- What comes later ------------------------------------------------------------------------ */

static int attach_late(struct budget *b, uint8_t lib, uint32_t group)
{
	int err = attach_group(b, lib, group);

	return err ?: tell_group(b, lib, group, clock_ns(CLOCK_MONOTONIC));
}

int budget__heed(struct budget *b, struct command_says says)
{
	int err = 0;

	b->some_say.incremental |= says.incremental;
	b->some_say.threads |= says.threads;
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		const struct watched_guards *w = &b->guards[lib];

		for (uint32_t i = 0; i < w->n_groups && !err; i++) {
			const struct watched_group *g = &w->groups[i];

			if (!g->present || g->attached || !is_said(&b->some_say, g))
				continue;
			/* That it was not is told first. */
			err = budget__tell_foreseen(b) ?: attach_late(b, lib, i);
		}
	}
	return err ? diag_error_r(err, "cannot watch what a compiler may do: %s", strerror(-err))
		   : 0;
}

int budget__heed_exec(struct budget *b, const void *record, size_t size)
{
	const struct wire_exec *r = record;
	size_t most = size < sizeof(*r) ? 0 : sizeof(r->args);
	size_t len = r->args_len < most ? r->args_len : most;

	if (!memchr(r->args, '\0', len) || !is_compiler_program(r->args))
		return 0;
	/* What was cut off there is in /proc, unless it is gone. */
	return budget__heed(b, r->truncated ? budget_command_of((pid_t)r->pid)
					    : read_arguments(r->args, len, false));
}

/* ---- What is learnt -------------------------------------------------------------------------- */

/* That of waiting or loading is the same for all queries. */
static uint32_t group_of(const struct watched_guards *w, const struct wire_span *r)
{
	if (r->kind == WIRE_KIND_ACTIVITY)
		return r->query < w->n ? w->guards[r->query].group : w->n_groups;
	for (uint32_t i = 0; i < w->n_groups; i++)
		if (w->groups[i].kind == r->kind)
			return i;
	return w->n_groups;
}

void budget__note_guard(struct budget *b, const struct wire_span *r)
{
	const struct watched_guards *w;
	uint32_t group;

	if (r->lib >= WIRE_WATCHED_LIBS)
		return;
	w = &b->guards[r->lib];
	group = group_of(w, r);
	if (group < w->n_groups)
		b->learnt[r->lib]->groups[group].hits++;
}

void budget__learn_guards(struct budget *b, uint8_t lib, double cpu_s)
{
	const struct watched_guards *w = &b->guards[lib];

	for (uint32_t i = 0; i < w->n_groups; i++)
		if (w->groups[i].attached)
			b->learnt[lib]->groups[i].cpu_s += cpu_s;
}

void budget__free_guards(struct budget *b)
{
	for (uint8_t lib = 0; lib < WIRE_WATCHED_LIBS; lib++) {
		free(b->guards[lib].guards);
		free(b->guards[lib].groups);
	}
}
