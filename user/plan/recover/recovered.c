// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/recovered.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* st_name has 32 bits; rustc's names have 30 MB. */
#define TEXT_MAX (512u << 20)

static int add_text(struct recovered *r, const char *text, size_t len)
{
	return len > TEXT_MAX - r->len
		       ? -ENOMEM
		       : bytes__append(&r->text, &r->len, &r->text_capacity, text, len);
}

int recovered__add(struct recovered *r, uint64_t addr, const char *name)
{
	struct recovered_name item = {addr, r->len};

	return add_text(r, name, strlen(name) + 1)
		       ?: array__add(&r->items, &r->n, &r->capacity, &item);
}

/* Symbols while they are made. `names` are theirs, and have no other items. */
struct maker {
	const struct recovered *from;
	const struct bounds *bounds;
	struct recovered names;
	GElf_Sym *symbols;
	uint32_t n, capacity;
};

static int add_symbol(struct maker *m, const struct bound *b, const char *name, const char *suffix)
{
	GElf_Sym sym = {
		.st_name = (GElf_Word)m->names.len,
		.st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
		.st_shndx = SHN_ABS,
		.st_value = b->addr,
		.st_size = b->size,
	};

	return add_text(&m->names, name, strlen(name))
		       ?: add_text(&m->names, suffix, strlen(suffix) + 1)
		       ?: array__add(&m->symbols, &m->n, &m->capacity, &sym);
}

/* The symbols of `b`, with the names of the function at `addr`. */
static int add_symbols(struct maker *m, const struct bound *b, uint64_t addr, const char *suffix)
{
	const struct recovered *r = m->from;
	uint32_t first = (uint32_t)bisect(r->n, i, r->items[i].addr < addr), i = first;
	char name[32];
	int err = 0;

	for (; i < r->n && r->items[i].addr == addr && !err; i++)
		err = add_symbol(m, b, r->text + r->items[i].at, suffix);
	if (i > first || err)
		return err;
	snprintf(name, sizeof(name), "fn_%" PRIx64, addr);
	return add_symbol(m, b, name, suffix);
}

static int make_symbols(struct maker *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->bounds->n && !err; i++) {
		const struct bound *b = &m->bounds->items[i];
		uint32_t of = b->of == BOUNDS_NONE ? i : b->of;

		err = add_symbols(m, b, m->bounds->items[of].addr, b->of == i ? "" : ".cold");
	}
	return err;
}

int recovered__give(struct recovered *r, const struct bounds *bounds, struct elf_image *img)
{
	struct maker m = {.from = r, .bounds = bounds};
	int err;

	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), array__by_u64);
	err = make_symbols(&m);
	if (!err)
		err = elf_image__take_symbols(img, m.symbols, m.n, take_ptr(m.names.text),
					      m.names.len);
	free(m.symbols);
	recovered__destroy(&m.names);
	return err;
}

void recovered__destroy(struct recovered *r)
{
	free(r->items);
	free(r->text);
	*r = (struct recovered){0};
}
