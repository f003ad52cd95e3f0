// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "trace/interner.h"

#define SEPARATOR "::"
#define IMPL	  "{{impl"

/* ---- The module of a path -------------------------------------------------------------------- */

/* Rows being made. */
struct rollup {
	struct trace_texts texts;
	const char **paths; /* of all modules, sorted */
	size_t n_paths;
	struct interner names; /* the id of each is its row */
	TABLE(uint32_t) homes; /* rows, by string id of the item */
	/* Of the queries about a row's items, by row << 32 | label; the item is the row. */
	TABLE(struct item_cell) cells;
	struct module_row *rows;
	uint32_t n, capacity;
};

static void rollup__clear(struct rollup *r)
{
	free(r->paths);
	interner__destroy(&r->names);
	table__destroy(&r->homes);
	table__destroy(&r->cells);
	module_rows__free(r->rows, r->n);
}

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
static size_t module_length(const struct rollup *r, const char *path)
{
	size_t end = segment_end(path, 0), length = end;

	while (path[end]) {
		size_t from = end + strlen(SEPARATOR);
		struct prefix prefix = {path, end = segment_end(path, from)};

		if (!strncmp(path + from, IMPL, strlen(IMPL)) ||
		    bsearch(&prefix, r->paths, r->n_paths, sizeof(*r->paths), compare_prefix))
			length = end;
	}
	return length;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The row of the module of an item; it is made if there is none. */
static int find_home(struct rollup *r, uint32_t item, uint32_t *row)
{
	const uint32_t *home = table__find(&r->homes, item);
	bool none = item == TRACE_NO_STRING, is_new;
	struct module_row new = {.sums.item = none ? item : 0};
	_free_ char *name = NULL;
	const char *path;
	int err;

	if (home) {
		*row = *home;
		return 0;
	}
	if (!none) {
		path = r->texts.text(r->texts.ctx, item);
		new.path = name = strndup(path, module_length(r, path));
		if (!name)
			return -ENOMEM;
	}
	/* No module is called so. */
	err = interner__id(&r->names, name ?: "\n", row, &is_new);
	if (!err && is_new) {
		err = array__add(&r->rows, &r->n, &r->capacity, &new);
		if (!err)
			take_ptr(name);
	}
	if (err)
		return err;
	r->rows[*row].items += !none;
	return table__get(&r->homes, item, *row) ? 0 : -ENOMEM;
}

static int take_cell(void *ctx, const struct item_cell *cell)
{
	struct rollup *r = ctx;
	struct item_cell *sum;
	uint32_t row;
	int err = find_home(r, cell->item, &row);

	if (err)
		return err;
	sum = table__get(&r->cells, (uint64_t)row << 32 | cell->label, .item = row,
			 .label = cell->label);
	if (!sum)
		return -ENOMEM;
	sum->executions += cell->executions;
	sum->charged += cell->charged;
	sum->results += cell->results;
	sum->unsure += cell->unsure;
	sum->self_ns += cell->self_ns;
	sum->cpu_ns += cell->cpu_ns;
	sample_sums_of__add(sum->sampled, cell->sampled);
	return 0;
}

int modules__rows(struct items *items, const struct trace_texts *texts, struct module_row **rows,
		  size_t *n)
{
	__cleanup(rollup__clear) struct rollup r = {.texts = *texts};
	uint32_t n_modules;
	const uint32_t *modules = items__modules(items, &n_modules);
	int err;

	r.paths = calloc(n_modules + 1UL, sizeof(*r.paths));
	if (!r.paths)
		return -ENOMEM;
	for (; r.n_paths < n_modules; r.n_paths++)
		r.paths[r.n_paths] = texts->text(texts->ctx, modules[r.n_paths]);
	qsort(r.paths, r.n_paths, sizeof(*r.paths), by_text);
	err = items__each(items, take_cell, &r);
	if (err)
		return err;
	for (uint32_t i = 0; i < r.cells.n; i++)
		item_row__add(&r.rows[r.cells.at[i].item].sums, &r.cells.at[i]);
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

int item_list__set(struct item_list *l, uint32_t process, struct items *items)
{
	_free_ struct item_row *rows = NULL;
	_free_ struct listed_item *new = NULL, *all = NULL;
	size_t n_new, next = 0, n = 0;

	if (items__rows(items, &rows, &n_new))
		return -ENOMEM;
	new = calloc(n_new + 1, sizeof(*new));
	all = calloc(l->n + n_new + 1, sizeof(*all));
	if (!new || !all)
		return -ENOMEM;
	for (size_t i = 0; i < n_new; i++)
		new[i] = (struct listed_item){
			.self_ns = rows[i].self_ns,
			.cpu_ns = rows[i].cpu_ns,
			.executions = rows[i].executions,
			.most = rows[i].queries[0],
			.item = rows[i].item,
			.process = process,
			.sampled = !item_row__is_counted(&rows[i]),
		};
	qsort(new, n_new, sizeof(*new), by_cost);
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->at[i].process == process)
			continue;
		while (next < n_new && by_cost(&new[next], &l->at[i]) < 0)
			all[n++] = new[next++];
		all[n++] = l->at[i];
	}
	memcpy(all + n, new + next, (n_new - next) * sizeof(*all));
	free(l->at);
	l->at = take_ptr(all);
	l->n = (uint32_t)(n + n_new - next);
	l->changes++;
	return 0;
}

void item_list__clear(struct item_list *l)
{
	free(l->at);
	*l = (struct item_list){0};
}
