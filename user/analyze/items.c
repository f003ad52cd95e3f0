// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

/* Intervals of one label and depth that wait for an execution around them that has an item. */
struct waiting {
	uint32_t depth;
	uint32_t label;
	uint64_t executions;
	uint64_t self_ns;
	uint64_t off_ns;
	uint64_t probe_ns;
};

struct track {
	struct waiting *waiting; /* by the time of their ends: depths never fall but at a parent */
	uint32_t n;
	uint32_t capacity;
};

struct named {
	bool is_item, is_module;
};

/*
 * The instances that compiles make of generic functions, by the executions of queries whose key is
 * exactly an Instance. Of a function of the crate itself each such query is executed at most once
 * for each instance, so the most executions are their number. Of another crate's function some
 * queries are also executed for instances that the compile only refers to, as they were made in the
 * other one; so it made as many as the least of them was executed. By the compilers' tables, the
 * results of that query alone are listed.
 */

/* A query that was executed. */
struct query {
	bool is_one;	 /* its key is an Instance */
	bool is_named;	 /* an execution had a path */
	bool of_modules; /* rustc runs it once per module */
};

/* Executions of such a query about a definition, in compiles of other crates. */
struct foreign_instances {
	uint32_t path; /* string id */
	uint64_t executions;
};

/* All zeroes: no query has such a key. */
struct instances {
	bool (*keyed)(const void *ctx, uint32_t label); /* whether a query's key is an Instance */
	const void *ctx;
	TABLE(struct foreign_instances) foreign; /* by path << 32 | label */
	TABLE(struct foreign_instances) listed;	 /* by the compilers' tables; by path */
};

/* Sums by text: a definition has the same text in other crates. */
struct compiled {
	uint32_t item;		/* one of the strings with the text */
	struct sample_sum self; /* in LLVM */
	uint64_t own, made;	/* instances, by its own crate and by others */
	bool has_row;		/* that has what others made */
};

struct items {
	struct trace_texts texts;
	struct instances instances;
	/* By item << 32 | label; of times with that of probes and without samples, until the end.
	 */
	TABLE(struct item_cell) cells;
	bool misses_results;
	uint32_t *unlisted; /* labels of queries; a compiler has some hundred */
	uint32_t n_unlisted, unlisted_capacity;
	TABLE(struct query) queries; /* by label */
	uint32_t *modules;	     /* string ids */
	uint32_t n_modules, modules_capacity;
	TABLE(struct track) tracks;	 /* by process << 32 | tid */
	TABLE(struct named) names;	 /* by string id */
	TABLE(struct compiled) compiled; /* by the hash of the text: find_compiled() */
	bool counted_made;
	uint32_t compiler; /* whose instances are known, plus 1 */
	bool several_compilers;
	bool lists_instances; /* all of them, of the only compiler: set at the end */
};

int items__new(const struct trace_texts *texts, struct items **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->texts = *texts;
	return 0;
}

bool items__any(const struct items *m)
{
	for (uint32_t i = 0; i < m->names.n; i++)
		if (m->names.at[i].is_item)
			return true;
	return false;
}

void items__count_instances(struct items *m,
			    bool (*keyed_by_instance)(const void *ctx, uint32_t label),
			    const void *ctx)
{
	m->instances.keyed = keyed_by_instance;
	m->instances.ctx = ctx;
}

static const char *text_of(const struct items *m, uint32_t string)
{
	return m->texts.text(m->texts.ctx, string);
}

/* ---- Instances ------------------------------------------------------------------------------- */

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

/* NULL without memory. */
static struct query *query(struct items *m, uint32_t label)
{
	const struct instances *i = &m->instances;

	return table__get(&m->queries, label, .is_one = i->keyed && i->keyed(i->ctx, label),
			  .of_modules = is_of_modules(text_of(m, label)));
}

bool items__counts_instances_by(struct items *m, uint32_t label)
{
	const struct query *q = query(m, label);

	/* Without memory it does not count. */
	return q && q->is_one;
}

/* A query was executed about something with a path. */
static int note_named(struct items *m, uint32_t label)
{
	struct query *q = query(m, label);

	if (q)
		q->is_named = true;
	return q ? 0 : -ENOMEM;
}

int items__foreign_instance(struct items *m, uint32_t label, uint32_t path)
{
	struct foreign_instances *f =
		table__get(&m->instances.foreign, (uint64_t)path << 32 | label, .path = path);

	if (!f)
		return -ENOMEM;
	f->executions++;
	return note_named(m, label);
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct named *named(struct items *m, uint32_t string)
{
	struct named *known = table__find(&m->names, string);
	const char *text = known ? NULL : text_of(m, string);

	/* An empty text stands for an unknown key, "()" for that of a query that takes none. */
	return known ?: table__get(&m->names, string, .is_item = *text && strcmp(text, "()") != 0);
}

int items__about(struct items *m, uint32_t label, uint32_t string)
{
	struct query *q = string == TRACE_NO_STRING ? NULL : query(m, label);
	struct named *known = q ? named(m, string) : NULL;

	if (string == TRACE_NO_STRING)
		return 0;
	if (!known)
		return -ENOMEM;
	if (q->of_modules && known->is_item && !known->is_module) {
		known->is_module = true;
		if (array__add(&m->modules, &m->n_modules, &m->modules_capacity, &string))
			return -ENOMEM;
	}
	return known->is_item;
}

const uint32_t *items__modules(const struct items *m, uint32_t *n)
{
	*n = m->n_modules;
	return m->modules;
}

/* The cell of a label; it is made if there is none. NULL: no memory. */
static struct item_cell *cell(struct items *m, uint32_t item, uint32_t label)
{
	if (item != TRACE_NO_STRING && !named(m, item))
		return NULL;
	return table__get(&m->cells, (uint64_t)item << 32 | label, .item = item, .label = label);
}

static int add_item_time(struct items *m, uint32_t item, const struct waiting *w, bool own)
{
	struct item_cell *c = cell(m, item, w->label);

	if (!c)
		return -ENOMEM;
	*(own ? &c->executions : &c->charged) += w->executions;
	c->self_ns += w->self_ns;
	c->off_ns += w->off_ns;
	c->probe_ns += w->probe_ns;
	return 0;
}

int items__sample(struct items *m, uint32_t label, uint32_t item, uint8_t cause, uint64_t value)
{
	struct item_cell *c = cell(m, item, label);

	if (!c)
		return -ENOMEM;
	sample_sum__add(&c->sampled[cause], &(struct sample_sum){1, value});
	return 0;
}

/*
 * That of an item's text; or NULL, and *key is where it would be. Paths of other crates'
 * definitions have other strings than in their own crate, but the same texts.
 */
static struct compiled *find_compiled(const struct items *m, uint32_t item, uint64_t *key)
{
	const char *text = text_of(m, item);

	for (*key = map_hash(text, strlen(text));; ++*key) {
		uint32_t at = u64_map__get(&m->compiled.index.index_of, *key);
		struct compiled *found = at == U64_MAP_NONE ? NULL : &m->compiled.at[at];

		if (!found || found->item == item || !strcmp(text_of(m, found->item), text))
			return found;
	}
}

/* It is made if there is none. NULL: no memory. */
static struct compiled *get_compiled(struct items *m, uint32_t item)
{
	uint64_t key;

	return find_compiled(m, item, &key) ?: table__get(&m->compiled, key, .item = item);
}

int items__llvm(struct items *m, uint32_t item, const struct sample_sum *self)
{
	struct compiled *compiled = get_compiled(m, item);

	if (!compiled)
		return -ENOMEM;
	sample_sum__add(&compiled->self, self);
	return 0;
}

/*
 * Count the instances that compiles of other crates made of a definition; of its path there may be
 * several strings. There are none, unless at least two queries were executed with a path, or tables
 * list some.
 */
static int count_made(struct items *m)
{
	struct instances *i = &m->instances;
	uint32_t queries = 0;

	if (m->counted_made)
		return 0;
	m->counted_made = true;
	for (uint32_t q = 0; q < m->queries.n; q++)
		queries += m->queries.at[q].is_one && m->queries.at[q].is_named;
	if (i->foreign.n && queries >= 2) {
		/* Nothing is looked up by its place any more. */
		qsort(i->foreign.at, i->foreign.n, sizeof(*i->foreign.at), array__by_u32);
		for (uint32_t at = 0, n; at < i->foreign.n; at += n) {
			const struct foreign_instances *first = &i->foreign.at[at];
			struct compiled *compiled = get_compiled(m, first->path);
			uint64_t least = UINT64_MAX;

			if (!compiled)
				return -ENOMEM;
			for (n = 0; at + n < i->foreign.n && first[n].path == first->path; n++)
				least = first[n].executions < least ? first[n].executions : least;
			compiled->made += n < queries ? 0 : least;
		}
		return 0;
	}
	for (uint32_t at = 0; at < i->listed.n; at++) {
		struct compiled *compiled = get_compiled(m, i->listed.at[at].path);

		if (!compiled)
			return -ENOMEM;
		compiled->made += i->listed.at[at].executions;
	}
	return 0;
}

static bool lists_instances(struct items *m)
{
	if (!m->compiler || m->several_compilers || m->misses_results)
		return false;
	for (uint32_t i = 0; i < m->n_unlisted; i++)
		if (items__counts_instances_by(m, m->unlisted[i]))
			return false;
	return true;
}

int items__count_compiled(struct items *m)
{
	int err = m->compiled.n ? count_made(m) : 0;

	for (uint32_t i = 0; i < m->cells.n && m->compiled.n; i++) {
		const struct item_cell *c = &m->cells.at[i];
		uint64_t n = c->executions + c->results, key;
		struct compiled *compiled;

		if (c->item == TRACE_NO_STRING || !n || !items__counts_instances_by(m, c->label))
			continue;
		compiled = find_compiled(m, c->item, &key);
		if (compiled && compiled->own < n)
			compiled->own = n;
	}
	m->lists_instances = lists_instances(m);
	return err;
}

uint64_t items__compiled(const struct items *m, uint32_t item, bool *all)
{
	uint64_t key;
	const struct compiled *compiled = find_compiled(m, item, &key);

	*all = compiled && m->lists_instances;
	return compiled ? compiled->own + compiled->made : 0;
}

void items__note_compiler(struct items *m, uint32_t process, uint32_t label)
{
	if (!items__counts_instances_by(m, label))
		return;
	m->several_compilers |= m->compiler && m->compiler != process + 1;
	m->compiler = process + 1;
}

static int note_unlisted(struct items *m, uint32_t label)
{
	for (uint32_t i = 0; i < m->n_unlisted; i++)
		if (m->unlisted[i] == label)
			return 0;
	return array__add(&m->unlisted, &m->n_unlisted, &m->unlisted_capacity, &label);
}

int items__note_limit(struct items *m, uint32_t label)
{
	return items__counts_instances_by(m, label) ? note_unlisted(m, label) : 0;
}

const uint32_t *items__unlisted(const struct items *m, uint32_t *n)
{
	*n = m->n_unlisted;
	return m->unlisted;
}

int items__results(struct items *m, const struct trace_results *r)
{
	if (r->kind != TRACE_RESULTS_EXECUTED && note_unlisted(m, r->label))
		return -ENOMEM;
	if (r->kind == TRACE_RESULTS_UNKNOWN)
		m->misses_results = true;
	for (uint32_t i = 0; i < r->n; i++) {
		struct item_cell *c = cell(m, r->items[i], r->label);

		if (!c)
			return -ENOMEM;
		++*(r->kind == TRACE_RESULTS_EXECUTED ? &c->results : &c->unsure);
	}
	return 0;
}

int items__foreign_results(struct items *m, const struct trace_results *r)
{
	bool lists = r->kind == TRACE_RESULTS_EXECUTED && items__counts_instances_by(m, r->label);

	for (uint32_t i = 0; lists && i < r->n; i++) {
		struct foreign_instances *f =
			table__get(&m->instances.listed, r->items[i], .path = r->items[i]);

		if (!f)
			return -ENOMEM;
		f->executions++;
	}
	return 0;
}

void items__miss_results(struct items *m)
{
	m->misses_results = true;
}

bool items__misses_results(const struct items *m)
{
	return m->misses_results;
}

/* Charge all that waits below `depth` to an item. */
static int charge(struct items *m, struct track *t, int64_t depth, uint32_t item)
{
	int err = 0;

	while (t->n && t->waiting[t->n - 1].depth > depth && !err)
		err = add_item_time(m, item, &t->waiting[--t->n], false);
	return err;
}

/* An interval of this depth ends. What waited within it is as deep as it is from now on. */
static uint32_t lift(struct track *t, uint32_t depth)
{
	uint32_t from = t->n;

	while (from && t->waiting[from - 1].depth >= depth)
		t->waiting[--from].depth = depth;
	return from;
}

/* Keep an interval until one around it ends. One label waits at most once at a depth. */
static int wait(struct track *t, const struct waiting *w)
{
	uint32_t from = lift(t, w->depth), at;

	for (at = from; at < t->n; at++)
		if (t->waiting[at].label == w->label)
			break;
	if (at == t->n) {
		if (array__reserve_one(&t->waiting, t->n, &t->capacity, sizeof(*w)))
			return -ENOMEM;
		t->waiting[t->n++] = (struct waiting){.depth = w->depth, .label = w->label};
	}
	t->waiting[at].executions += w->executions;
	t->waiting[at].self_ns += w->self_ns;
	t->waiting[at].off_ns += w->off_ns;
	t->waiting[at].probe_ns += w->probe_ns;
	return 0;
}

static struct track *track_of(struct items *m, const struct trace_span *span)
{
	return table__get(&m->tracks, (uint64_t)span->process << 32 | span->tid, .n = 0);
}

int items__around(struct items *m, const struct trace_span *span, uint32_t item)
{
	struct track *t = track_of(m, span);
	int named = span->kind == TRACE_KIND_QUERY ? items__about(m, span->label, item) : 0;

	if (!t || named < 0)
		return -ENOMEM;
	if (named)
		return charge(m, t, span->depth, item);
	lift(t, span->depth);
	return 0;
}

int items__span(struct items *m, const struct trace_span *span, const struct trace_times *times,
		uint32_t item)
{
	struct track *t = track_of(m, span);
	struct waiting w = {
		.depth = span->depth,
		.label = span->label,
		.executions = span->kind == TRACE_KIND_QUERY,
		.self_ns = times->self_ns,
		.off_ns = times->self_off_ns,
		.probe_ns = times->self_probe_ns,
	};
	int named = span->kind == TRACE_KIND_QUERY ? items__about(m, span->label, item) : 0;

	if (!t || named < 0)
		return -ENOMEM;
	if (named)
		return charge(m, t, span->depth, item)
			       ?: note_named(m, span->label)
			       ?: add_item_time(m, item, &w, true);
	return wait(t, &w);
}

/* Keep the most expensive queries in order. */
static void note_query(struct item_row *row, const struct item_cell *cell)
{
	uint32_t at = row->n_queries;

	while (at && row->queries[at - 1].cpu_ns < cell->cpu_ns)
		at--;
	if (at == ITEM_QUERIES)
		return;
	if (row->n_queries < ITEM_QUERIES)
		row->n_queries++;
	memmove(&row->queries[at + 1], &row->queries[at],
		(row->n_queries - 1 - at) * sizeof(*row->queries));
	row->queries[at] = (struct item_part){cell->label, cell->self_ns, cell->cpu_ns};
}

void item_row__add(struct item_row *row, const struct item_cell *cell)
{
	row->executions += cell->executions;
	row->charged += cell->charged;
	row->results += cell->results;
	row->unsure += cell->unsure;
	row->self_ns += cell->self_ns;
	row->cpu_ns += cell->cpu_ns;
	sample_sums_of__add(row->sampled, cell->sampled);
	if (cell->instances && cell->executions + cell->results > row->instances)
		row->instances = cell->executions + cell->results;
	if (cell->self_ns || cell->executions || cell->charged)
		note_query(row, cell);
}

/* Without the time of probes, and with that of samples. */
static struct item_cell cell_of(struct items *m, uint32_t i)
{
	struct item_cell cell = m->cells.at[i];
	uint64_t sampled_ns = cell.sampled[TRACE_SAMPLE_CPU].value;
	uint64_t self_ns = trace_without_probes(cell.self_ns, cell.probe_ns);

	cell.probe_ns = cell.self_ns - self_ns;
	cell.self_ns = self_ns + sampled_ns;
	cell.cpu_ns = on_cpu_ns(self_ns, cell.off_ns) + sampled_ns;
	cell.instances = cell.item != TRACE_NO_STRING && items__counts_instances_by(m, cell.label);
	return cell;
}

/* Nothing is around what still waits. */
static int charge_rest(struct items *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->tracks.n && !err; i++)
		err = charge(m, &m->tracks.at[i], -1, TRACE_NO_STRING);
	return err;
}

int items__each(struct items *m, int (*take)(void *ctx, const struct item_cell *cell), void *ctx)
{
	int err = charge_rest(m);

	for (uint32_t i = 0; i < m->cells.n && !err; i++) {
		const struct item_cell cell = cell_of(m, i);

		err = take(ctx, &cell);
	}
	return err;
}

/* For items__each(): rows by item. */
struct rows {
	struct item_row *at;
	uint32_t n, capacity;
	struct table_index index;
};

static void rows__clear(struct rows *rows)
{
	table__destroy(rows);
}

static int add_to_row(void *ctx, const struct item_cell *cell)
{
	struct item_row *row = table__get((struct rows *)ctx, cell->item, .item = cell->item);

	if (!row)
		return -ENOMEM;
	item_row__add(row, cell);
	return 0;
}

/* Add what LLVM took for an item; returns what is known of its text, or NULL. */
static struct compiled *complete_row(struct items *m, struct item_row *row)
{
	struct compiled *compiled = NULL;
	uint64_t key;

	if (row->item != TRACE_NO_STRING && m->compiled.n)
		compiled = find_compiled(m, row->item, &key);
	row->at_least = row->unsure || m->misses_results;
	if (compiled)
		row->llvm = compiled->self;
	return compiled;
}

int items__rows(struct items *m, struct item_row **rows, size_t *n)
{
	__cleanup(rows__clear) struct rows made = {};

	if (array__reserve_one(&made.at, 0, &made.capacity, sizeof(*made.at)) ||
	    items__each(m, add_to_row, &made) || count_made(m))
		return -ENOMEM;
	qsort(made.at, made.n, sizeof(*made.at), array__by_u32);
	for (uint32_t i = 0; i < made.n; i++) {
		struct item_row *row = &made.at[i];
		struct compiled *compiled = complete_row(m, row);

		if (!compiled)
			continue;
		if (!compiled->has_row)
			row->instances += compiled->made;
		compiled->has_row = true;
	}
	*n = made.n;
	*rows = take_ptr(made.at);
	return 0;
}

static int by_cpu(const void *a, const void *b, void *items)
{
	const struct item_row *x = a, *y = b;
	uint64_t of_x = x->cpu_ns + x->llvm.value, of_y = y->cpu_ns + y->llvm.value;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return strcmp(text_of(items, x->item), text_of(items, y->item));
}

int items__first(struct items *m, size_t most, struct item_row **rows, size_t *n, size_t *all)
{
	_free_ struct item_row *kept = NULL;
	size_t room, n_kept = 0, n_all = 0;

	if (charge_rest(m))
		return -ENOMEM;
	room = most < m->cells.n / 2 ? 2 * most : m->cells.n;
	kept = calloc(room + 1, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	/* Cells are not looked up any more. */
	if (m->cells.n)
		qsort(m->cells.at, m->cells.n, sizeof(*m->cells.at), array__by_u32);
	for (uint32_t i = 0; i < m->cells.n;) {
		struct item_row row = {.item = m->cells.at[i].item};

		for (; i < m->cells.n && m->cells.at[i].item == row.item; i++) {
			const struct item_cell cell = cell_of(m, i);

			item_row__add(&row, &cell);
		}
		complete_row(m, &row);
		if (row.item == TRACE_NO_STRING || (!row.n_queries && !row.llvm.n))
			continue;
		n_all++;
		kept[n_kept++] = row;
		if (n_kept <= room)
			continue;
		qsort_r(kept, n_kept, sizeof(*kept), by_cpu, m);
		n_kept = most;
	}
	if (n_kept)
		qsort_r(kept, n_kept, sizeof(*kept), by_cpu, m);
	*n = n_kept < most ? n_kept : most;
	*all = n_all;
	*rows = take_ptr(kept);
	return 0;
}

void items__free(struct items *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->tracks.n; i++)
		free(m->tracks.at[i].waiting);
	table__destroy(&m->cells);
	free(m->unlisted);
	table__destroy(&m->tracks);
	table__destroy(&m->names);
	table__destroy(&m->compiled);
	table__destroy(&m->queries);
	free(m->modules);
	table__destroy(&m->instances.foreign);
	table__destroy(&m->instances.listed);
	free(m);
}
