// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/vtables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/straight.h"
#include "plan/recover/providers.h"
#include "plan/recover/recovered.h"
#include "plan/mine/owners.h"
#include "plan/code/eval.h"

/* rustc 1.95 has 319, the longest of 49 bytes. */
#define QUERIES_MIN  32
#define QUERIES_MAX  2048
#define NAME_MAX_LEN 128
/* How far from its name a query's other fields may be. */
#define FIELD_MOST 512

/* A query: where its name is in the table, and what its columns hold. */
struct query {
	uint32_t at, end;
	const char *name; /* in the image */
	uint32_t len;
	uint64_t wrapper[2]; /* by the argument of the run */
	uint64_t provider;
	uint64_t loader; /* or 0: none is known */
};

struct table {
	struct elf_image *img;
	const struct bounds *bounds;
	struct straight *runs[2];
	struct query *queries;
	uint32_t n, capacity;
	uint64_t defaults; /* the function that sets up the defaults of the table of providers */
};

static void table__destroy(struct table *t)
{
	straight__free(t->runs[0]);
	straight__free(t->runs[1]);
	free(t->queries);
}

static bool is_name(const char *s, size_t len)
{
	if (!islower((unsigned char)s[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)s[i]) && !isdigit((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

/* The name at `at` of the table: an address and a length. */
static bool read_name(const struct table *t, uint32_t at, struct query *q)
{
	uint64_t addr, n;
	size_t room;

	if (!straight__word(t->runs[0], at, &addr) || !straight__word(t->runs[0], at + 8, &n) ||
	    n < 2 || n > NAME_MAX_LEN || elf_image__code(t->img, addr, &room))
		return false;
	q->name = (const char *)elf_image__bytes(t->img, addr, &room);
	q->len = (uint32_t)n;
	q->at = at;
	return q->name && n <= room && is_name(q->name, n);
}

static int read_names(struct table *t)
{
	int err = 0;

	for (uint32_t at = 0; at + 16 <= STRAIGHT_RESULT && !err; at += 8) {
		struct query q = {.end = STRAIGHT_RESULT};

		if (t->n == QUERIES_MAX || !read_name(t, at, &q))
			continue;
		if (t->n)
			t->queries[t->n - 1].end = at;
		err = array__add(&t->queries, &t->n, &t->capacity, &q);
	}
	return err;
}

static bool function_at(const struct table *t, int run, uint32_t at, uint64_t *function)
{
	return straight__word(t->runs[run], at, function) && bounds__starts(t->bounds, *function);
}

/* The fields `by` bytes behind the names, if all are different functions in the two runs. */
static bool take_wrappers(struct table *t, int by)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct query *q = &t->queries[i];

		for (int run = 0; run < 2; run++)
			if (!function_at(t, run, q->at + (uint32_t)by, &q->wrapper[run]))
				return false;
		if (q->wrapper[0] == q->wrapper[1])
			return false;
	}
	return true;
}

static int compare_names(const void *a, const void *b)
{
	const struct query *x = a, *y = b;
	int cmp = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return cmp ?: x->len < y->len ? -1 : x->len > y->len;
}

static bool names_differ(struct table *t)
{
	qsort(t->queries, t->n, sizeof(*t->queries), compare_names);
	for (uint32_t i = 1; i < t->n; i++)
		if (!compare_names(&t->queries[i - 1], &t->queries[i]))
			return false;
	return true;
}

/* The fields `by` bytes behind the names, if all are functions, whatever the mode. */
static bool read_column(const struct table *t, int by, uint64_t *functions)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t at = t->queries[i].at + (uint32_t)by;
		uint64_t other;

		if (!function_at(t, 0, at, &functions[i]) || !function_at(t, 1, at, &other) ||
		    other != functions[i])
			return false;
	}
	return true;
}

/* All wrappers and providers must be different functions. */
static int functions_differ(const struct table *t)
{
	_free_ uint64_t *all = calloc(t->n, 3 * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++) {
		all[3 * i] = t->queries[i].wrapper[0];
		all[3 * i + 1] = t->queries[i].wrapper[1];
		all[3 * i + 2] = t->queries[i].provider;
	}
	qsort(all, 3 * t->n, sizeof(*all), array__by_u64);
	for (uint32_t i = 1; i < 3 * t->n; i++)
		if (all[i] == all[i - 1])
			return 0;
	return 1;
}

/* A column of functions of which each reads its own place of a table of as many. */
struct column {
	int by;	     /* 0: there is none */
	bool unsure; /* which place is whose */
	uint64_t *functions;
	uint32_t *places;
};

static int column__init(struct column *c, const struct table *t)
{
	*c = (struct column){
		.functions = calloc(t->n, sizeof(*c->functions)),
		.places = calloc(t->n, sizeof(*c->places)),
	};
	return c->functions && c->places ? 0 : -ENOMEM;
}

static void column__destroy(struct column *c)
{
	free(c->functions);
	free(c->places);
}

/*
 * The first such column behind the names; with `called`, of functions that call those that read. 0
 * or -ENOMEM.
 */
static int find_column(const struct table *t, bool called, struct column *c)
{
	int found = 0;

	for (int by = 16; by <= FIELD_MOST && !found; by += 8) {
		if (!read_column(t, by, c->functions))
			continue;
		if (called && providers_called(t->img, t->bounds, c->functions, t->n))
			return -ENOMEM;
		found = providers_places(t->img, t->bounds, c->functions, t->n, c->places);
		if (found < 0)
			return found;
		c->by = found ? by : 0;
		c->unsure = found > 1;
	}
	return 0;
}

/*
 * The first column reads wrappers in a table of their own, another one calls providers. Both tables
 * have the queries in one order.
 */
static int use_engine(struct table *t, const struct address_counts *counts, struct column *c)
{
	_free_ struct engine_wrappers *wrappers = calloc(t->n, sizeof(*wrappers));
	__cleanup(column__destroy) struct column readers = *c;
	int err = column__init(c, t), found;

	if (err || !wrappers)
		return -ENOMEM;
	found = readers.unsure ? 0 : engine__find(t->img, t->bounds, counts, wrappers, t->n);
	if (found <= 0)
		return found;
	for (uint32_t i = 0; i < t->n; i++)
		memcpy(t->queries[i].wrapper, wrappers[readers.places[i]].functions,
		       sizeof(t->queries[i].wrapper));
	err = find_column(t, true, c);
	if (!err && memcmp(c->places, readers.places, t->n * sizeof(*c->places)))
		c->by = 0;
	return err;
}

static int find_columns(struct table *t, const struct address_counts *counts, const char **problem)
{
	__cleanup(column__destroy) struct column c;
	bool wrappers = false;
	int err = column__init(&c, t);

	for (int by = 16; by <= FIELD_MOST && !wrappers && !err; by += 8)
		wrappers = take_wrappers(t, by);
	err = err ?: find_column(t, false, &c);
	if (!err && c.by && !wrappers)
		err = use_engine(t, counts, &c);
	for (uint32_t i = 0; i < t->n && !err; i++)
		t->queries[i].provider = c.functions[i];
	if (!err && !c.by)
		*problem = "not every query has a provider and wrappers in the compiler's tables";
	return err;
}

static int check(struct table *t, const struct address_counts *counts, const char **problem)
{
	int differ = functions_differ(t), found;

	if (differ < 0)
		return differ;
	if (!differ || !names_differ(t)) {
		*problem = "two queries have the same name, wrapper or provider in the compiler's "
			   "table of them";
		return 0;
	}
	found = providers_defaults(t->img, t->bounds, counts, t->n, &t->defaults);
	if (found < 0)
		return found;
	if (!found)
		*problem = "the compiler has another number of providers than of queries that were "
			   "found";
	return 0;
}

/*
 * A function that loads and lies where the query is in the table is the query's own; the wrapper
 * may hold the body, which calls that. False if there are two.
 */
static bool take_loader(const struct table *t, const struct loaders *l, struct query *q)
{
	uint32_t end = q->end - q->at < FIELD_MOST ? q->end : q->at + FIELD_MOST;
	uint64_t function;

	for (uint32_t at = q->at + 16; at < end; at += 8) {
		if (!function_at(t, 1, at, &function) || !loaders__has(l, function) ||
		    function == q->loader || function == q->wrapper[1])
			continue;
		if (q->loader)
			return false;
		q->loader = function;
	}
	return true;
}

/* One in front of the first name shows that each lies in front of its query's, not behind it. */
static bool is_before_names(const struct table *t, const struct loaders *l)
{
	uint32_t first = STRAIGHT_RESULT;
	uint64_t function;

	for (uint32_t i = 0; i < t->n; i++)
		first = t->queries[i].at < first ? t->queries[i].at : first;
	for (uint32_t at = first > FIELD_MOST ? first - FIELD_MOST : 0; at < first; at += 8)
		if (function_at(t, 1, at, &function) && loaders__has(l, function))
			return true;
	return false;
}

/* Loads in functions without a name have no query. So all are left out rather than one is wrong. */
static int find_loaders(struct table *t)
{
	__cleanup(loaders__destroy) struct loaders loaders;
	int err = loaders__find(t->img, &loaders);
	bool known = !err && !is_before_names(t, &loaders);

	for (uint32_t i = 0; i < t->n && known; i++)
		known = take_loader(t, &loaders, &t->queries[i]);
	for (uint32_t i = 0; i < t->n && !known; i++)
		t->queries[i].loader = 0;
	return err;
}

static int read_table(struct table *t, const struct address_counts *counts, const char **problem)
{
	int err;

	for (uint64_t incremental = 0; incremental < 2; incremental++) {
		err = straight__run(t->img, counts->items[0].function, incremental,
				    &t->runs[incremental]);
		if (err == -ENOTSUP) {
			*problem = "the function that makes the compiler's table of queries cannot "
				   "be followed to its end";
			return 0;
		}
		if (err)
			return err;
	}
	err = read_names(t);
	if (err)
		return err;
	if (t->n < QUERIES_MIN) {
		*problem = "the compiler's table of queries was not found";
		return 0;
	}
	err = find_columns(t, counts, problem);
	return err || *problem ? err : check(t, counts, problem);
}

int vtables__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out,
		     const char **problem)
{
	__cleanup(table__destroy) struct table t = {.img = img, .bounds = bounds};
	struct address_counts counts;
	uint64_t source_span;
	int err = addresses__count(img, bounds, &counts), found;

	*problem = NULL;
	if (!err && !counts.n)
		*problem = "it has no function that could make the compiler's table of queries";
	if (!err && !*problem)
		err = read_table(&t, &counts, problem);
	if (err || *problem)
		return err;
	err = find_loaders(&t);
	for (uint32_t i = 0; !err && i < t.n; i++) {
		const struct query *q = &t.queries[i];

		err = q->loader ? query_names__loader(out, q->name, q->len, q->loader) : 0;
		err = err ?: query_names__wrappers(out, q->name, q->len, q->wrapper[0],
						   q->wrapper[1])
			       ?: query_names__provider(out, q->name, q->len, q->provider);
	}
	if (err)
		return err;
	/* rustc has it as a closure, whose number is not known. It shows where spans are. */
	found = set_providers__find(img, bounds, t.defaults, t.n, "source_span", &source_span);
	return found <= 0 ? found
			  : recovered__add(out, source_span,
					   "_RNvNtC15rustc_interface6passes11source_span");
}

/* ---- 1.85's closures ------------------------------------------------------------------------- */

static bool read_wrappers(struct straight *const runs[2], const struct bounds *bounds, uint32_t at,
			  struct engine_wrappers *out)
{
	for (int mode = 0; mode < 2; mode++)
		if (!straight__word(runs[mode], at, &out->functions[mode]) ||
		    !bounds__starts(bounds, out->functions[mode]))
			return false;
	return out->functions[0] != out->functions[1];
}

/* The first run of them, if it is as long as the table. */
static bool engine_read_table(struct straight *const runs[2], const struct bounds *bounds,
			      struct engine_wrappers *table, uint32_t n)
{
	struct engine_wrappers w;
	uint32_t at = 0, found = 0;

	while (at + 8 <= STRAIGHT_RESULT && !read_wrappers(runs, bounds, at, &w))
		at += 8;
	for (; at + 8 <= STRAIGHT_RESULT && read_wrappers(runs, bounds, at, &w); at += 8) {
		if (found == n)
			return false;
		table[found++] = w;
	}
	return found == n;
}

int engine__find(struct elf_image *img, const struct bounds *bounds,
		 const struct address_counts *counts, struct engine_wrappers *table, uint32_t n)
{
	for (uint32_t i = 0; i < counts->n; i++) {
		_straight_ struct straight *first = NULL, *second = NULL;
		int err = straight__run(img, counts->items[i].function, 0, &first)
				  ?: straight__run(img, counts->items[i].function, 1, &second);

		if (err == -ENOMEM)
			return err;
		if (!err &&
		    engine_read_table((struct straight *const[]){first, second}, bounds, table, n))
			return 1;
	}
	return 0;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static int add_entries(struct loaders *l, const struct owners *owners)
{
	int err = 0;

	for (size_t i = 0; i < owners->n && !err; i++)
		err = array__add(&l->items, &l->n, &l->capacity, &owners->items[i].entry);
	return err;
}

int loaders__find(struct elf_image *img, struct loaders *out)
{
	_owners_ struct owners holders = {0}, callers = {0};
	_known_symbols_ struct known_symbols known = {0};
	int err = known_symbols__find(img, &known);

	*out = (struct loaders){0};
	err = err ?: callers__of_cold(img, &known, NAME_COLD_LOAD, NAME_COLD_LOAD, &holders);
	err = err ?: add_entries(out, &holders);
	err = err ?: callers__find(img, out->items, out->n, &callers);
	err = err ?: add_entries(out, &callers);
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), array__by_u64);
	return err == -ENODATA ? 0 : err;
}

bool loaders__has(const struct loaders *l, uint64_t function)
{
	return l->n && bsearch(&function, l->items, l->n, sizeof(*l->items), array__by_u64);
}

void loaders__destroy(struct loaders *l)
{
	free(l->items);
	*l = (struct loaders){0};
}

/* ---- The table of providers ------------------------------------------------------------------ */

/* One in so many places may hold a value that could not be followed: 1.85 has 10 of 301. */
#define UNKNOWN_SHARE 16
/* A function that refuses is short. */
#define STEPS_MAX 32

/* It passes on the name, as an address and a length. 1, 0 or -ENOMEM. */
static int refuses(const struct elf_image *img, uint64_t function, const char *query)
{
	const struct code_region region = {function, elf_image__size_of(img, function)};
	const struct eval_function f = {.img = img,
					.entry = function,
					.regions = &region,
					.n_regions = 1,
					.steps = STEPS_MAX};
	size_t len = strlen(query);
	_free_ struct eval *e = NULL;
	int err = eval__run(&f, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];
		const uint8_t *text;
		size_t room;

		if (!sum_is_constant(&c->first) || !sum_is_constant(&c->second) ||
		    c->second.constant != len)
			continue;
		text = elf_image__bytes(img, c->first.constant, &room);
		if (text && room >= len && !memcmp(text, query, len))
			return 1;
	}
	return err;
}

/* The only place of the defaults that has the query's name. 1, 0 or -ENOMEM. */
static int find_place(struct elf_image *img, uint64_t defaults, uint32_t n, const char *query,
		      uint32_t *place)
{
	_straight_ struct straight *s = NULL;
	int err = straight__run(img, defaults, 0, &s), found = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint64_t function;
		int is = straight__word(s, 8 * i, &function) ? refuses(img, function, query) : 0;

		if (is < 0)
			return is;
		if (is)
			*place = i;
		found += is;
	}
	return err == -ENOMEM ? err : found == 1;
}

/* Run a function that sets providers; 1 and what it puts in the place, 0 or -ENOMEM. */
static int run_setter(struct elf_image *img, const struct bounds *bounds, uint64_t setter,
		      uint32_t n, uint32_t place, uint64_t *function)
{
	_straight_ struct straight *s = NULL;
	int err = straight__run(img, setter, 0, &s);
	uint32_t unknown = 0;
	uint64_t any;

	if (err)
		return err == -ENOMEM ? err : 0;
	for (uint32_t i = 0; i < n; i++) {
		bool known = straight__word(s, 8 * i, &any);

		unknown += !known;
		if ((known && !bounds__starts(bounds, any)) || unknown > n / UNKNOWN_SHARE)
			return 0;
	}
	return straight__word(s, 8 * place, function);
}

int set_providers__find(struct elf_image *img, const struct bounds *bounds, uint64_t defaults,
			uint32_t n, const char *query, uint64_t *function)
{
	_owners_ struct owners setters = {0};
	uint32_t place = 0;
	int is = find_place(img, defaults, n, query, &place), found = 0;

	if (is > 0 && callers__find(img, &defaults, 1, &setters) == -ENOMEM)
		return -ENOMEM;
	for (size_t i = 0; i < setters.n && is >= 0; i++) {
		uint64_t set;

		is = run_setter(img, bounds, setters.items[i].entry, n, place, &set);
		if (is <= 0)
			continue;
		if (found && set != *function)
			return 0;
		*function = set;
		found = 1;
	}
	return is < 0 ? is : found;
}
