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

/* A function that drops guards. */
struct dropper {
	uint64_t addr;
	struct job_guard guard;
	bool several; /* more types than there is room for */
};

struct search {
	struct dropper *droppers; /* by address */
	uint32_t n, capacity;
	uint64_t *calls;
	uint32_t n_calls, cap_calls;
	struct code code;
};

static void search__destroy(struct search *s)
{
	free(s->droppers);
	free(s->calls);
	code__free(&s->code);
}

bool job_guard__has(const struct job_guard *g, const char *type)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (!strcmp(g->types[i].type, type))
			return true;
	return false;
}

static void add_type(struct dropper *d, struct key_name name)
{
	if (job_guard__has(&d->guard, name.type))
		return;
	if (d->guard.n == JOB_GUARD_TYPES || !name.type[0])
		d->several = true;
	else
		d->guard.types[d->guard.n++] = name;
}

static int find_droppers(struct search *s, const struct known_symbols *known)
{
	for (uint32_t i = 0; i < known->n; i++) {
		const struct known_symbol *k = &known->items[i];
		struct dropper d = {.addr = k->sym->addr};

		if (k->info.kind != NAME_KEY_GUARD || k->info.part != NAME_PART_ENTRY)
			continue;
		if ((!s->n || s->droppers[s->n - 1].addr != d.addr) &&
		    array__add(&s->droppers, &s->n, &s->capacity, &d))
			return -ENOMEM;
		add_type(&s->droppers[s->n - 1], key_name__parse(k->sym->name));
	}
	return 0;
}

static const struct dropper *dropper_at(const struct search *s, uint64_t addr)
{
	uint32_t i = (uint32_t)bisect(s->n, k, s->droppers[k].addr < addr);

	return i < s->n && s->droppers[i].addr == addr ? &s->droppers[i] : NULL;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct search *s = arg;

	return dropper_at(s, to) ? array__add(&s->calls, &s->n_calls, &s->cap_calls, &addr) : 0;
}

static int look_at_body(struct search *s, struct code_decoder *decoder, const struct owner *f,
			struct job_guard *out)
{
	const struct dropper *found = NULL;
	int err = code_decoder__decode(decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	for (size_t i = 0; i < s->code.n; i++) {
		const struct dropper *d = dropper_at(s, profiler__callee(&s->code.insns[i]));

		if (!d)
			continue;
		if (d->several || (found && found != d))
			return 0;
		found = d;
	}
	if (found)
		*out = found->guard;
	return 0;
}

static int look_at_bodies(struct search *s, struct elf_image *img, struct code_decoder *decoder,
			  const struct plan *plan, struct job_guard *out)
{
	_owners_ struct owners owners = {0};
	struct code_range range = {s->droppers[0].addr, s->droppers[s->n - 1].addr};
	int err = code_scan__calls(img, range, note_call, s)
			  ?: owners__find(img, s->calls, s->n_calls, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(plan, owners.items[i].entry);

		if (body != PLAN_NONE)
			err = look_at_body(s, decoder, &owners.items[i], &out[body]);
	}
	return err;
}

int job_guards__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct job_guard **out)
{
	__cleanup(search__destroy) struct search s = {0};
	int err;

	*out = calloc(plan->n_bodies + 1UL, sizeof(**out));
	err = *out ? find_droppers(&s, known) : -ENOMEM;
	if (err || !s.n)
		return err;
	return look_at_bodies(&s, img, decoder, plan, *out);
}
