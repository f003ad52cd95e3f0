// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "trace/interner.h"
#include "base/cleanup.h"

#define SEPARATOR "::"
#define IMPL	  "{{impl"

struct label {
	bool of_modules;
};

struct module {
	uint32_t string;
};

struct modules {
	struct trace_texts texts;
	TABLE(struct label) labels;   /* by string id */
	TABLE(struct module) modules; /* by string id of the path */
};

int modules__new(const struct trace_texts *texts, struct modules **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->texts = *texts;
	return 0;
}

/* rustc has "mod" as a word of the name of queries that run once per module: check_mod_privacy. */
static bool is_of_modules(const char *query)
{
	for (;;) {
		size_t len = strcspn(query, "_");

		if (len == strlen("mod") && !memcmp(query, "mod", len))
			return true;
		if (!query[len])
			return false;
		query += len + 1;
	}
}

int modules__span(struct modules *m, const struct trace_span *span, uint32_t item)
{
	const struct label *label;
	const char *text;

	if (item == TRACE_NO_STRING || span->kind != TRACE_KIND_QUERY)
		return 0;
	label = table__find(&m->labels, span->label);
	if (!label) {
		text = m->texts.text(m->texts.ctx, span->label);
		label = table__get(&m->labels, span->label, .of_modules = is_of_modules(text));
	}
	if (!label)
		return -ENOMEM;
	if (!label->of_modules)
		return 0;
	return table__get(&m->modules, item, .string = item) ? 0 : -ENOMEM;
}

/* ---- The module of a path -------------------------------------------------------------------- */

/* All paths of modules, sorted. */
struct paths {
	const char **at;
	size_t n;
};

/* A beginning of a path. */
struct prefix {
	const char *at;
	size_t len;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_prefix(const void *a, const void *b)
{
	const struct prefix *prefix = a;
	const char *path = *(const char *const *)b;

	return strncmp(prefix->at, path, prefix->len) ?: -(path[prefix->len] != '\0');
}

static int paths__init(struct paths *p, const struct modules *m)
{
	p->at = calloc(m->modules.n + 1UL, sizeof(*p->at));
	if (!p->at)
		return -ENOMEM;
	for (p->n = 0; p->n < m->modules.n; p->n++)
		p->at[p->n] = m->texts.text(m->texts.ctx, m->modules.at[p->n].string);
	qsort(p->at, p->n, sizeof(*p->at), by_text);
	return 0;
}

/* The length of the path up to its next segment. Types in brackets, of imports, have no segments.
 */
static size_t segment_end(const char *path, size_t from)
{
	size_t at = from;
	int depth = 0;

	for (; path[at]; at++) {
		if (strchr("({[<", path[at]))
			depth++;
		else if (strchr(")}]>", path[at]))
			depth--;
		else if (depth <= 0 && !strncmp(path + at, SEPARATOR, strlen(SEPARATOR)))
			break;
	}
	return at;
}

/* The part of a path that names the innermost module or impl; its first segment is a crate. */
static size_t module_length(const struct paths *modules, const char *path)
{
	size_t end = segment_end(path, 0), length = end;

	while (path[end]) {
		size_t from = end + strlen(SEPARATOR);
		struct prefix prefix = {path, end = segment_end(path, from)};

		if (!strncmp(path + from, IMPL, strlen(IMPL)) ||
		    bsearch(&prefix, modules->at, modules->n, sizeof(*modules->at), compare_prefix))
			length = end;
	}
	return length;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The row of an item. */
struct home {
	uint32_t row;
};

/* The time of one query about the items of one row. */
struct sum {
	uint32_t row;
	struct item_cell cell;
};

struct rollup {
	const struct modules *modules;
	struct paths paths;
	struct interner names;
	struct u64_map row_of;	  /* id of a name -> row */
	TABLE(struct home) homes; /* by string id of the item */
	TABLE(struct sum) sums;	  /* by row << 32 | label */
	struct module_row *rows;
	uint32_t n;
	uint32_t capacity;
};

static void rollup__clear(struct rollup *r)
{
	free(r->paths.at);
	interner__destroy(&r->names);
	u64_map__destroy(&r->row_of);
	table__destroy(&r->homes);
	table__destroy(&r->sums);
	module_rows__free(r->rows, r->n);
}

static int new_row(struct rollup *r, const char *path)
{
	if (array__reserve_one(&r->rows, r->n, &r->capacity, sizeof(*r->rows)))
		return -ENOMEM;
	r->rows[r->n] = (struct module_row){.sums.item = path ? 0 : TRACE_NO_STRING};
	if (path) {
		r->rows[r->n].path = strdup(path);
		if (!r->rows[r->n].path)
			return -ENOMEM;
	}
	r->n++;
	return 0;
}

/* Find or make the row of the module of an item. */
static int row_of_item(struct rollup *r, uint32_t item, uint32_t *row)
{
	const struct trace_texts *texts = &r->modules->texts;
	const char *path = texts->text(texts->ctx, item);
	_free_ char *name = strndup(path, module_length(&r->paths, path));
	bool is_new;
	uint32_t id;
	int err = name ? interner__id(&r->names, name, &id, &is_new) : -ENOMEM;

	if (err)
		return err;
	*row = r->n;
	if (is_new)
		return u64_map__put(&r->row_of, id, r->n) ?: new_row(r, name);
	*row = u64_map__get(&r->row_of, id);
	return 0;
}

static int find_home(struct rollup *r, uint32_t item, uint32_t *row)
{
	const struct home *home = table__find(&r->homes, item);
	int err;

	if (home) {
		*row = home->row;
		return 0;
	}
	*row = r->n;
	err = item == TRACE_NO_STRING ? new_row(r, NULL) : row_of_item(r, item, row);
	if (err)
		return err;
	r->rows[*row].items += item != TRACE_NO_STRING;
	return table__get(&r->homes, item, .row = *row) ? 0 : -ENOMEM;
}

static int take_cell(void *ctx, const struct item_cell *cell)
{
	struct rollup *r = ctx;
	struct sum *sum;
	uint32_t row;
	int err = find_home(r, cell->item, &row);

	if (err)
		return err;
	sum = table__get(&r->sums, (uint64_t)row << 32 | cell->label, .row = row,
			 .cell.label = cell->label);
	if (!sum)
		return -ENOMEM;
	sum->cell.executions += cell->executions;
	sum->cell.charged += cell->charged;
	sum->cell.results += cell->results;
	sum->cell.unsure += cell->unsure;
	sum->cell.self_ns += cell->self_ns;
	sum->cell.cpu_ns += cell->cpu_ns;
	sample_sums_of__add(sum->cell.sampled, cell->sampled);
	return 0;
}

int modules__rows(const struct modules *m, struct items *items, struct module_row **rows, size_t *n)
{
	__cleanup(rollup__clear) struct rollup r = {.modules = m};
	int err = paths__init(&r.paths, m) ?: items__each(items, take_cell, &r);

	if (err)
		return err;
	for (uint32_t i = 0; i < r.sums.n; i++)
		item_row__add(&r.rows[r.sums.at[i].row].sums, &r.sums.at[i].cell);
	for (uint32_t i = 0; i < r.n; i++)
		r.rows[i].sums.at_least = r.rows[i].sums.unsure || items__misses_results(items);
	*n = r.n;
	*rows = take_ptr(r.rows);
	return 0;
}

void module_rows__free(struct module_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].path);
	free(rows);
}

void modules__free(struct modules *m)
{
	if (!m)
		return;
	table__destroy(&m->labels);
	table__destroy(&m->modules);
	free(m);
}

/* ---- Lists of items -------------------------------------------------------------------------- */

static int by_cost(const void *a, const void *b)
{
	const struct listed_item *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* The items of one compile, in order. */
static struct listed_item *list(uint32_t process, struct items *items, size_t *n)
{
	_free_ struct item_row *rows = NULL;
	struct listed_item *at;

	if (items__rows(items, &rows, n))
		return NULL;
	at = calloc(*n + 1, sizeof(*at));
	for (size_t i = 0; at && i < *n; i++)
		at[i] = (struct listed_item){
			.self_ns = rows[i].self_ns,
			.cpu_ns = rows[i].cpu_ns,
			.executions = rows[i].executions,
			.most = rows[i].queries[0],
			.item = rows[i].item,
			.process = process,
			.sampled = !item_row__is_counted(&rows[i]),
		};
	if (at)
		qsort(at, *n, sizeof(*at), by_cost);
	return at;
}

int item_list__set(struct item_list *l, uint32_t process, struct items *items)
{
	size_t n_new, next = 0, n = 0;
	_free_ struct listed_item *new = list(process, items, &n_new);
	struct listed_item *all = new ? calloc(l->n + n_new + 1, sizeof(*all)) : NULL;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->at[i].process == process)
			continue;
		while (next < n_new && by_cost(&new[next], &l->at[i]) < 0)
			all[n++] = new[next++];
		all[n++] = l->at[i];
	}
	memcpy(all + n, new + next, (n_new - next) * sizeof(*all));
	free(l->at);
	l->at = all;
	l->n = (uint32_t)(n + n_new - next);
	l->changes++;
	return 0;
}

void item_list__clear(struct item_list *l)
{
	free(l->at);
	*l = (struct item_list){0};
}
