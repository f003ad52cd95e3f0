// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_engine.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/recover/addresses.h"
#include "plan/recover/engine_methods.h"
#include "plan/recover/providers.h"
#include "plan/recover/query_names.h"
#include "plan/recover/variant_names.h"

#define QUERIES_MIN  32
#define QUERIES_MAX  2048
#define NAME_MAX_LEN 128

/* Queries of which a describe() is exported. */
struct described {
	struct variant_name *items;
	uint32_t n, capacity;
};

static void described__destroy(struct described *d)
{
	free(d->items);
}

/* <rustc_query_impl::queries::NAME as ..QueryDescription<..>>::describe */
static bool is_describe(const char *symbol, struct variant_name *name)
{
	static const char module[] = "16rustc_query_impl", queries[] = "7queries";
	const char *at = strstr(symbol, module), *end = strstr(symbol, "16QueryDescription");
	size_t len = strlen(symbol);
	char *text;

	if (strncmp(symbol, "_RNvX", 5) || !at || !end || len < 9 ||
	    strcmp(symbol + len - 9, "8describe"))
		return false;
	at = strstr(at, queries);
	if (!at || at > end || !isdigit((unsigned char)at[sizeof(queries) - 1]))
		return false;
	name->len = (uint32_t)strtoul(at + sizeof(queries) - 1, &text, 10);
	text += *text == '_';
	name->text = text;
	return name->len && name->len <= NAME_MAX_LEN && text < end &&
	       name->len <= (size_t)(end - text);
}

static int find_described(struct elf_image *img, struct described *d)
{
	const struct elf_symbol *syms;
	struct variant_name name;
	size_t n;
	int err = elf_image__symbols(img, &syms, &n);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		if (is_describe(syms[i].name, &name))
			err = array__add(&d->items, &d->n, &d->capacity, &name);
	return err;
}

bool query_engine__is_in(struct elf_image *img)
{
	__cleanup(described__destroy) struct described d = {0};

	return !find_described(img, &d) && d.n >= QUERIES_MIN && d.n <= QUERIES_MAX;
}

/* <DepKind as Debug>::fmt; of size 0 if it is not exported. */
static struct code_region find_debug(struct elf_image *img)
{
	static const char type[] = "7DepKind", method[] = "5Debug3fmt";
	const struct elf_symbol *syms;
	size_t n;

	if (elf_image__symbols(img, &syms, &n))
		return (struct code_region){0};
	for (size_t i = 0; i < n; i++) {
		const char *name = syms[i].name, *end = strstr(name, method);

		if (strstr(name, "12rustc_middle") && strstr(name, type) && end &&
		    !end[sizeof(method) - 1])
			return (struct code_region){syms[i].addr, syms[i].size};
	}
	return (struct code_region){0};
}

static int compare_names(const void *a, const void *b)
{
	const struct variant_name *x = a, *y = b;
	int cmp = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return cmp ?: x->len < y->len ? -1 : x->len > y->len;
}

static int read_debug(struct elf_image *img, struct variant_names *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct code_region region = find_debug(img);
	struct code code = {0};
	int err = code_decoder__new(img, &decoder);

	out->n = 0;
	if (!err && region.size)
		err = variant_names__read(img, decoder, region, &code, out);
	code__free(&code);
	return err;
}

/* The names from number `first` on are those in `d`, each once. */
static bool names_agree(const struct variant_names *names, uint32_t first, struct described *d)
{
	struct variant_name sorted[VARIANT_NAMES_MAX];

	if (first >= names->n || d->n > names->n - first)
		return false;
	memcpy(sorted, names->items + first, d->n * sizeof(*sorted));
	for (uint32_t i = 0; i < d->n; i++)
		if (!sorted[i].text)
			return false;
	qsort(sorted, d->n, sizeof(*sorted), compare_names);
	qsort(d->items, d->n, sizeof(*d->items), compare_names);
	for (uint32_t i = 0; i < d->n; i++)
		if (compare_names(&sorted[i], &d->items[i]) ||
		    (i && !compare_names(&sorted[i], &sorted[i - 1])))
			return false;
	return true;
}

/* 1, 0 or -ENOMEM. */
static int has_providers(struct elf_image *img, const struct bounds *bounds, uint32_t n)
{
	struct address_counts counts;
	uint64_t defaults;

	return addresses__count(img, bounds, &counts)
		       ?: providers_defaults(img, bounds, &counts, n, &defaults);
}

static int check(struct elf_image *img, const struct bounds *bounds, const struct engine_methods *m,
		 const struct variant_names *names, struct described *d, const char **problem)
{
	int found;

	if (!m->n) {
		*problem = "the methods of its QueryEngine were not found, or their numbers do not "
			   "follow one another";
		return 0;
	}
	if (!names_agree(names, m->first, d)) {
		*problem = "the names of the numbers of its queries are not those of the queries "
			   "that it describes";
		return 0;
	}
	found = has_providers(img, bounds, m->n);
	if (found < 0)
		return found;
	if (!found)
		*problem = "the compiler has another number of providers than of queries that were "
			   "found";
	return 0;
}

static int add(const struct engine_methods *m, const struct variant_names *names,
	       struct recovered *out, struct query_numbers *numbers)
{
	uint32_t offset = engine_methods__offset(m);
	int err = 0;

	numbers->offset = offset == UINT32_MAX ? 0 : offset;
	for (uint32_t i = 0; i < m->n && !err; i++) {
		const struct variant_name *name = &names->items[m->first + i];
		uint64_t wrapper = m->items[i].wrapper;
		struct query_number number = {.wrapper = wrapper, .number = m->first + i};

		err = query_names__wrappers(out, name->text, name->len, wrapper, wrapper);
		if (!err && offset != UINT32_MAX &&
		    engine_methods__vtable(m, i, offset, &number.vtable))
			err = query_numbers__add(numbers, number);
	}
	query_numbers__sort(numbers);
	return err;
}

int query_engine__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
			  struct query_numbers *numbers, const char **problem)
{
	__cleanup(described__destroy) struct described d = {0};
	_known_symbols_ struct known_symbols known = {0};
	_engine_methods_ struct engine_methods m = {0};
	_free_ struct variant_names *names = calloc(1, sizeof(*names));
	int err = names ? known_symbols__find(img, &known) ?: find_described(img, &d) : -ENOMEM;

	*problem = NULL;
	err = err ?: read_debug(img, names) ?: engine_methods__find(img, bounds, &known, d.n, &m)
		       ?: check(img, bounds, &m, names, &d, problem);
	return err || *problem ? err : add(&m, names, out, numbers);
}
