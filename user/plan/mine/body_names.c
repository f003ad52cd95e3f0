// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/body_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/scan.h"
#include "plan/mine/owners.h"
#include "plan/mine/profiler.h"

void body_name__add(struct body_name *body, struct key_name name)
{
	if (!body->any) {
		body->name = name;
		body->any = true;
		return;
	}
	if (body->name.key != name.key)
		body->name.key = WIRE_KEY_UNKNOWN;
	if (strcmp(body->name.type, name.type))
		body->name.type[0] = '\0';
	if (body->name.has_size != name.has_size || body->name.size != name.size)
		body->name.has_size = false;
}

static void read_names(const struct known_symbols *known, const struct plan *plan,
		       struct body_name *bodies)
{
	for (uint32_t i = 0; i < known->n; i++) {
		const struct known_symbol *k = &known->items[i];
		uint32_t body;

		if (k->info.part != NAME_PART_ENTRY ||
		    (k->info.kind != NAME_BODY_NON_INCR && k->info.kind != NAME_BODY_INCR))
			continue;
		body = plan__body_at(plan, k->sym->addr);
		if (body != PLAN_NONE)
			body_name__add(&bodies[body], key_name__parse(k->sym->name));
	}
}

/* ---- Bodies without names -------------------------------------------------------------------- */

/*
 * Calls between the exported function and the body. rustup's bodies call it themselves. In Debian's
 * 1.96 two functions, of the same types, are between.
 */
#define CALLS_MAX 3

/* A function that serves bodies with one type of cache only. */
struct witness {
	uint64_t addr;
	struct body_name name;
};

struct witnesses {
	struct witness *items; /* by address */
	uint32_t n, capacity;
};

struct calls {
	const struct witnesses *of;
	uint64_t *addrs;
	uint32_t n, capacity;
};

struct search {
	struct elf_image *img;
	struct code_decoder *decoder;
	const struct plan *plan;
	struct body_name *bodies;
	struct code code;
};

static const struct witness *witness_at(const struct witnesses *w, uint64_t addr)
{
	uint32_t i = (uint32_t)bisect(w->n, k, w->items[k].addr < addr);

	return i < w->n && w->items[i].addr == addr ? &w->items[i] : NULL;
}

/* A body's own names show more. */
static void lend(struct body_name *to, const struct body_name *from)
{
	if (!from->any || (to->any && !to->borrowed))
		return;
	body_name__add(to, from->name);
	to->borrowed = true;
}

static int find_exported(const struct known_symbols *known, struct witnesses *out)
{
	int err = 0;

	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];
		struct witness w = {.addr = k->sym->addr, .name.any = true};

		if (k->info.kind != NAME_KEY_WITNESS || k->info.part != NAME_PART_ENTRY)
			continue;
		w.name.name = key_name__parse(k->sym->name);
		if (out->n && out->items[out->n - 1].addr == w.addr)
			body_name__add(&out->items[out->n - 1].name, w.name.name);
		else
			err = array__add(&out->items, &out->n, &out->capacity, &w);
	}
	return err;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct calls *c = arg;

	return witness_at(c->of, to) ? array__add(&c->addrs, &c->n, &c->capacity, &addr) : 0;
}

static int look_at_caller(struct search *s, const struct owner *f, const struct witnesses *of,
			  struct witnesses *callers)
{
	uint32_t body = plan__body_at(s->plan, f->entry);
	struct witness caller = {.addr = f->entry};
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	for (size_t i = 0; i < s->code.n; i++) {
		const struct witness *w = witness_at(of, profiler__callee(&s->code.insns[i]));

		/* Tasks of no query have no type. */
		if (w && w->name.name.type[0])
			body_name__add(&caller.name, w->name.name);
	}
	if (body != PLAN_NONE)
		lend(&s->bodies[body], &caller.name);
	else if (caller.name.any)
		return array__add(&callers->items, &callers->n, &callers->capacity, &caller);
	return 0;
}

/* Name the bodies that call any of `of`. `callers` are the others that do. */
static int find_callers(struct search *s, const struct witnesses *of, struct witnesses *callers)
{
	_owners_ struct owners owners = {0};
	struct calls calls = {.of = of};
	struct code_range range = {of->items[0].addr, of->items[of->n - 1].addr};
	int err = code_scan__calls(s->img, range, note_call, &calls)
			  ?: owners__find(s->img, calls.addrs, calls.n, &owners);

	for (size_t i = 0; i < owners.n && !err; i++)
		err = look_at_caller(s, &owners.items[i], of, callers);
	free(calls.addrs);
	return err;
}

static int read_witnesses(struct search *s, const struct known_symbols *known)
{
	struct witnesses w = {0};
	int err = find_exported(known, &w);

	for (int i = 0; i < CALLS_MAX && w.n && !err; i++) {
		struct witnesses callers = {0};

		err = find_callers(s, &w, &callers);
		free(w.items);
		w = callers;
	}
	free(w.items);
	code__free(&s->code);
	return err;
}

/* A function that executes for a body has its types, and both bodies of a query have one cache. */
static void lend_names(const struct plan *plan, struct body_name *bodies)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++) {
		uint32_t outlined = plan__outlined(plan, i);

		if (outlined != PLAN_NONE)
			lend(&bodies[i], &bodies[outlined]);
	}
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (q->body_non_incr != PLAN_NONE && q->body_incr != PLAN_NONE)
			lend(&bodies[q->body_non_incr], &bodies[q->body_incr]);
	}
}

/* Names show all that there is to know, where the library has them. */
static bool are_named(const struct plan *plan, const struct body_name *bodies)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (!bodies[i].any)
			return false;
	return true;
}

/* Names that contradict a body's guard are wrong, of one or the other. */
static void use_guard(struct body_name *body, const struct job_guard *guard)
{
	body->guard = *guard;
	if (body->any && guard->n && !job_guard__has(guard, body->name.type))
		body->name = (struct key_name){.key = WIRE_KEY_UNKNOWN};
	else if (!body->any && guard->n == 1)
		body_name__add(body, guard->types[0]);
}

static int use_guards(struct search *s, const struct known_symbols *known)
{
	_free_ struct job_guard *guards = NULL;
	int err = job_guards__find(s->img, known, s->decoder, s->plan, &guards);

	for (uint32_t i = 0; i < s->plan->n_bodies && !err; i++)
		use_guard(&s->bodies[i], &guards[i]);
	return err;
}

int body_names__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct body_name **out)
{
	struct search s = {.img = img, .decoder = decoder, .plan = plan};
	int err;

	*out = s.bodies = calloc(plan->n_bodies + 1UL, sizeof(**out));
	if (!s.bodies)
		return -ENOMEM;
	read_names(known, plan, s.bodies);
	if (are_named(plan, s.bodies))
		return 0;
	err = read_witnesses(&s, known);
	if (err)
		return err;
	lend_names(plan, s.bodies);
	return use_guards(&s, known);
}
