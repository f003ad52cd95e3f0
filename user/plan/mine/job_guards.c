// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/job_guards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/scan.h"
#include "plan/mine/owners.h"
#include "plan/mine/profiler.h"

/* A function that drops guards, or grows tables, of these types. */
struct typed {
	uint64_t addr;
	struct job_guard guard;
	bool several; /* more types than there is room for */
};

struct typed_functions {
	struct typed *items; /* by address */
	uint32_t n, capacity;
};

struct search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct typed_functions droppers, tables;
	uint64_t *calls;
	uint32_t n_calls, cap_calls;
	struct code code, called;
};

static void search__destroy(struct search *s)
{
	free(s->droppers.items);
	free(s->tables.items);
	free(s->calls);
	code__free(&s->code);
	code__free(&s->called);
}

bool job_guard__has(const struct job_guard *g, const char *type)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (!strcmp(g->types[i].type, type))
			return true;
	return false;
}

static void add_type(struct typed *t, struct key_name name)
{
	if (job_guard__has(&t->guard, name.type))
		return;
	if (t->guard.n == JOB_GUARD_TYPES || !name.type[0])
		t->several = true;
	else
		t->guard.types[t->guard.n++] = name;
}

static int find_typed(const struct known_symbols *known, enum name_kind kind,
		      struct typed_functions *out)
{
	for (uint32_t i = 0; i < known->n; i++) {
		const struct known_symbol *k = &known->items[i];
		struct typed t = {.addr = k->sym->addr};

		if (k->info.kind != kind || k->info.part != NAME_PART_ENTRY)
			continue;
		if ((!out->n || out->items[out->n - 1].addr != t.addr) &&
		    array__add(&out->items, &out->n, &out->capacity, &t))
			return -ENOMEM;
		add_type(&out->items[out->n - 1], key_name__parse(k->sym->name));
	}
	return 0;
}

static const struct typed *typed_at(const struct typed_functions *f, uint64_t addr)
{
	uint32_t i = (uint32_t)bisect(f->n, k, f->items[k].addr < addr);

	return i < f->n && f->items[i].addr == addr ? &f->items[i] : NULL;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct search *s = arg;

	return typed_at(&s->droppers, to) ? array__add(&s->calls, &s->n_calls, &s->cap_calls, &addr)
					  : 0;
}

/* The one of `f` that the code calls; NULL and *several: it calls more than one. */
static const struct typed *called(const struct code *code, const struct typed_functions *f,
				  const struct typed *before, bool *several)
{
	const struct typed *found = before;

	for (size_t i = 0; i < code->n; i++) {
		const struct typed *t = typed_at(f, profiler__callee(&code->insns[i]));

		if (!t)
			continue;
		*several = *several || t->several || (found && found != t);
		found = t;
	}
	return *several ? NULL : found;
}

/* The table of the body's cache, which it calls itself or by one function between; or NULL. */
static int find_table(struct search *s, const struct typed **table)
{
	bool several = false;
	const struct typed *found = called(&s->code, &s->tables, NULL, &several);

	for (size_t i = 0; i < s->code.n && !several; i++) {
		uint64_t callee = profiler__callee(&s->code.insns[i]);
		struct code_region region = {callee, elf_image__size_of(s->img, callee)};
		int err;

		if (!callee || !region.size || typed_at(&s->tables, callee))
			continue;
		err = code_decoder__decode(s->decoder, &region, 1, &s->called);
		if (err == -ENOMEM)
			return err;
		if (!err)
			found = called(&s->called, &s->tables, found, &several);
	}
	*table = several ? NULL : found;
	return 0;
}

static int narrow(struct search *s, struct job_guard *guard)
{
	const struct job_guard all = *guard;
	const struct typed *table = NULL;
	int err = find_table(s, &table);

	if (err || !table)
		return err;
	guard->n = 0;
	for (uint32_t i = 0; i < all.n; i++)
		if (job_guard__has(&table->guard, all.types[i].type))
			guard->types[guard->n++] = all.types[i];
	return 0;
}

static int look_at_body(struct search *s, const struct owner *f, struct job_guard *out)
{
	const struct typed *dropper;
	bool several = false;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	dropper = called(&s->code, &s->droppers, NULL, &several);
	if (!dropper)
		return 0;
	*out = dropper->guard;
	return out->n > 1 ? narrow(s, out) : 0;
}

static int look_at_bodies(struct search *s, const struct plan *plan, struct job_guard *out)
{
	const struct typed_functions *f = &s->droppers;
	_owners_ struct owners owners = {0};
	struct code_range range = {f->items[0].addr, f->items[f->n - 1].addr};
	int err = code_scan__calls(s->img, range, note_call, s)
			  ?: owners__find(s->img, s->calls, s->n_calls, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(plan, owners.items[i].entry);

		if (body != PLAN_NONE)
			err = look_at_body(s, &owners.items[i], &out[body]);
	}
	return err;
}

int job_guards__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct job_guard **out)
{
	__cleanup(search__destroy) struct search s = {.img = img, .decoder = decoder};
	int err;

	*out = calloc(plan->n_bodies + 1UL, sizeof(**out));
	err = *out ? find_typed(known, NAME_KEY_GUARD, &s.droppers)
			      ?: find_typed(known, NAME_KEY_TABLE, &s.tables)
		   : -ENOMEM;
	if (err || !s.droppers.n)
		return err;
	return look_at_bodies(&s, plan, *out);
}
