// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/recovered.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "plan/code/opcode.h"

/* st_name has 32 bits; rustc's names have 30 MB. */
#define TEXT_MAX     (512u << 20)
#define NAME_MAX_LEN 512

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

int recovered__addf(struct recovered *r, uint64_t addr, const char *fmt, ...)
{
	char name[NAME_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	return recovered__add(r, addr, name);
}

/* Symbols while they are made. `names` are theirs, and have no other items. */
struct maker {
	const struct recovered *from;
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

int recovered__give(struct recovered *r, const struct bounds *bounds, struct elf_image *img)
{
	struct maker m = {.from = r};
	int err = 0;

	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), array__by_u64);
	for (uint32_t i = 0; i < bounds->n && !err; i++) {
		const struct bound *b = &bounds->items[i];
		uint32_t of = b->of == BOUNDS_NONE ? i : b->of;

		err = add_symbols(&m, b, bounds->items[of].addr, b->of == i ? "" : ".cold");
	}
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

/* ---- Exported names -------------------------------------------------------------------------- */

int dynsym__recover(struct elf_image *img, struct recovered *out)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__any_symbols(img, &syms, &n);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		err = recovered__add(out, syms[i].addr, syms[i].name);
	return err;
}

uint64_t dynsym__function(struct elf_image *img, const char *part)
{
	const struct elf_symbol *syms;
	size_t n;

	if (elf_image__symbols(img, &syms, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strstr(syms[i].name, part) && !syms[i].name[syms[i].base_len])
			return syms[i].addr;
	return 0;
}

/* ---- Names of a query's functions ------------------------------------------------------------ */

static const char path_of_query[] = "NvNtNtNt";

/* `path`: the namespaces of the function's path. */
static int add_function(struct recovered *out, const char *query, uint32_t len, uint64_t addr,
			const char *path, const char *function)
{
	return recovered__addf(out, addr, "_R%sC16rustc_query_impl10query_impl%u%.*s%s", path, len,
			       (int)len, query, function);
}

int query_names__wrappers(struct recovered *out, const char *query, uint32_t len, uint64_t non_incr,
			  uint64_t incr)
{
	return add_function(out, query, len, non_incr, path_of_query,
			    "22execute_query_non_incr26___rust_end_short_backtrace")
		       ?: add_function(out, query, len, incr, path_of_query,
				       "18execute_query_incr26___rust_end_short_backtrace");
}

int query_names__provider(struct recovered *out, const char *query, uint32_t len, uint64_t addr)
{
	return add_function(out, query, len, addr, path_of_query,
			    "18invoke_provider_fn28___rust_begin_short_backtrace");
}

int query_names__loader(struct recovered *out, const char *query, uint32_t len, uint64_t addr)
{
	return add_function(out, query, len, addr, "NCNvNtNt", "17make_query_vtable0");
}

/* ---- Numbers of queries ---------------------------------------------------------------------- */

int query_numbers__add(struct query_numbers *q, struct query_number item)
{
	return array__add(&q->items, &q->n, &q->capacity, &item);
}

void query_numbers__sort(struct query_numbers *q)
{
	if (q->n)
		qsort(q->items, q->n, sizeof(*q->items), array__by_u64);
}

const struct query_number *query_numbers__of(const struct query_numbers *q, uint64_t wrapper)
{
	return q->n ? bsearch(&wrapper, q->items, q->n, sizeof(*q->items), array__by_u64) : NULL;
}

void query_numbers__destroy(struct query_numbers *q)
{
	free(q->items);
	*q = (struct query_numbers){0};
}

/* ---- Addresses ------------------------------------------------------------------------------- */

#define COUNT_MIN 32

/* lea with a 64-bit register, of a place relative to its end: REX.W, 8d, modrm, four bytes. */
#define LEA_SIZE 7

static uint32_t count_in(struct elf_image *img, const struct bounds *b, const struct bound *part)
{
	size_t len;
	const uint8_t *bytes = elf_image__code(img, part->addr, &len);
	uint32_t n = 0;

	if (bytes && len > part->size)
		len = part->size;
	for (size_t i = 1; bytes && i + LEA_SIZE - 1 <= len; i++) {
		const uint8_t *found = memchr(bytes + i, OPCODE_LEA, len - LEA_SIZE + 2 - i);

		if (!found)
			break;
		i = (size_t)(found - bytes);
		if ((found[-1] & 0xfb) == 0x48 && opcode_is_lea_rip(found))
			n += bounds__starts(b, opcode_target(found + 2, part->addr + i + 6));
	}
	return n;
}

int addresses__count(struct elf_image *img, const struct bounds *b, struct address_counts *out)
{
	_free_ uint32_t *counts = calloc(b->n + 1UL, sizeof(*counts));

	*out = (struct address_counts){0};
	if (!counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t owner = b->items[i].of;

		if (owner < b->n)
			counts[owner] += count_in(img, b, &b->items[i]);
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const bool full = out->n == N_OF(out->items);
		uint32_t k = full ? out->n - 1 : out->n;

		if (counts[i] < COUNT_MIN || (full && counts[i] <= out->items[k].count))
			continue;
		for (; k && out->items[k - 1].count < counts[i]; k--)
			out->items[k] = out->items[k - 1];
		out->items[k] = (struct address_count){b->items[i].addr, counts[i]};
		out->n += !full;
	}
	return 0;
}
