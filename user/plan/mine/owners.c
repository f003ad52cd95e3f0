// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Parts of one function share a base name: "f", "f.cold", "f.warm". The search goes from an address
 * to the symbols there, their base names, the entries of these names, all symbols at the entries
 * (folded twins), their base names, and all parts of those.
 */
#include "plan/mine/owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* Symbols examined before an address: some are labels within a function. */
#define BEFORE 16
/* Size of the table of hashes, which rules out most symbols quickly. */
#define HASHES 65536

struct base_name {
	const char *s;
	uint32_t len;
	uint32_t hash;
	uint32_t owner;
};

struct part {
	struct code_region region;
	uint32_t owner;
};

struct finder {
	const struct elf_symbol *syms;
	size_t n_syms;
	struct base_name *names; /* sorted, without doubles */
	uint32_t n_names, names_capacity;
	bool hashes[HASHES]; /* one of `names` has it */
	struct owners *out;
	struct part *parts; /* of all owners */
	uint32_t n_parts, parts_capacity;
};

static struct base_name base_of(const struct elf_symbol *sym)
{
	return (struct base_name){sym->name, sym->base_len, sym->base_hash, 0};
}

static int by_name(const void *a, const void *b)
{
	const struct base_name *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->s, y->s, x->len);
}

static int want(struct finder *f, const struct elf_symbol *sym, uint32_t owner)
{
	struct base_name name = base_of(sym);

	name.owner = owner;
	return array__add(&f->names, &f->n_names, &f->names_capacity, &name);
}

static void sort_names(struct finder *f)
{
	uint32_t n = 0;

	if (f->n_names)
		qsort(f->names, f->n_names, sizeof(*f->names), by_name);
	memset(f->hashes, 0, sizeof(f->hashes));
	for (size_t i = 0; i < f->n_names; i++) {
		if (!n || by_name(&f->names[n - 1], &f->names[i]))
			f->names[n++] = f->names[i];
		f->hashes[f->names[i].hash % HASHES] = true;
	}
	f->n_names = n;
}

static const struct base_name *wanted(const struct finder *f, const struct base_name *name)
{
	if (!f->n_names || !f->hashes[name->hash % HASHES])
		return NULL;
	return bsearch(name, f->names, f->n_names, sizeof(*f->names), by_name);
}

/* The first symbol behind `addr`. */
static size_t symbol_after(const struct finder *f, uint64_t addr)
{
	return bisect(f->n_syms, i, f->syms[i].addr <= addr);
}

/* The symbols that contain `addr` and have the nearest start. */
static int want_holders(struct finder *f, uint64_t addr)
{
	size_t i = symbol_after(f, addr);
	uint64_t start = 0;

	for (size_t back = 0; i-- > 0; back++) {
		const struct elf_symbol *sym = &f->syms[i];

		if (start ? sym->addr != start : back == BEFORE)
			break;
		if (addr - sym->addr >= sym->size)
			continue;
		start = sym->addr;
		if (want(f, sym, 0))
			return -ENOMEM;
	}
	return 0;
}

/* The entries of all wanted names become the owners. */
static int find_entries(struct finder *f)
{
	struct owners *o = f->out;
	size_t n = 0;

	/* A folded part may belong to several names, each with its own entry. */
	o->items = calloc(f->n_names + 1, sizeof(*o->items));
	if (!o->items)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_syms; i++) {
		struct base_name name = base_of(&f->syms[i]);

		/* A split-off part is no entry. */
		if (!wanted(f, &name) || name.s[name.len])
			continue;
		/* Symbols are sorted by address, and so are the owners. */
		if (n && o->items[n - 1].entry == f->syms[i].addr)
			continue;
		if (n == f->n_names)
			break;
		o->items[n++] = (struct owner){f->syms[i].addr, f->syms[i].name, 0, NULL, 0};
	}
	o->n = n;
	return 0;
}

static int want_twins(struct finder *f)
{
	f->n_names = 0;
	for (uint32_t i = 0; i < f->out->n; i++) {
		struct owner *o = &f->out->items[i];

		for (size_t k = symbol_after(f, o->entry);
		     k-- > 0 && f->syms[k].addr == o->entry;) {
			o->n_names++;
			if (want(f, &f->syms[k], i))
				return -ENOMEM;
		}
	}
	return 0;
}

static int find_parts(struct finder *f)
{
	for (size_t i = 0; i < f->n_syms; i++) {
		const struct elf_symbol *sym = &f->syms[i];
		struct base_name name = base_of(sym);
		const struct base_name *found = wanted(f, &name);
		struct part part = {{sym->addr, sym->size}, found ? found->owner : 0};

		if (found && sym->size &&
		    array__add(&f->parts, &f->n_parts, &f->parts_capacity, &part))
			return -ENOMEM;
	}
	return 0;
}

static int give_parts(struct finder *f)
{
	struct owners *o = f->out;

	for (uint32_t i = 0; i < f->n_parts; i++)
		o->items[f->parts[i].owner].n_regions++;
	for (size_t i = 0; i < o->n; i++) {
		o->items[i].regions = calloc(o->items[i].n_regions + 1, sizeof(struct code_region));
		if (!o->items[i].regions)
			return -ENOMEM;
		o->items[i].n_regions = 0;
	}
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct owner *owner = &o->items[f->parts[i].owner];

		code_region__add(owner->regions, &owner->n_regions, f->parts[i].region);
	}
	return 0;
}

int owners__find(struct elf_image *img, const uint64_t *addrs, size_t n, struct owners *out)
{
	_free_ struct finder *f = calloc(1, sizeof(*f));
	int err;

	*out = (struct owners){NULL, 0};
	if (!f)
		return -ENOMEM;
	f->out = out;
	err = elf_image__symbols(img, &f->syms, &f->n_syms);
	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		err = want_holders(f, addrs[i]);
	sort_names(f);
	err = err ?: find_entries(f);
	err = err ?: want_twins(f);
	sort_names(f);
	err = err ?: find_parts(f);
	err = err ?: give_parts(f);
	free(f->names);
	free(f->parts);
	return err;
}

void owners__destroy(struct owners *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->items[i].regions);
	free(o->items);
	*o = (struct owners){NULL, 0};
}
