// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commit_rows.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "base/table.h"
#include "history/sql.h"
#include "trace/trace.h"

#define NONE UINT32_MAX /* as a unit or a query: all */
/* As units: what LLVM did in all crates. */
#define OF_PASSES    (UINT32_MAX - 1)
#define OF_FUNCTIONS (UINT32_MAX - 2)

struct pair {
	uint32_t unit, query;
	uint32_t kinds;
};

/* The name of a query, and whether some build does not count it. */
struct query {
	const char *name;
	bool uncounted;
	bool *in; /* of each build: some crate has it */
};

/* A pass or function of LLVM. */
struct work {
	const char *name;
	bool is_pass;
	bool is_cut; /* it may be one of which some build has no row */
};

/* Its time in a crate, of each build; HISTORY_UNKNOWN: there is no row. */
struct work_in_crate {
	uint32_t unit, work;
	uint64_t *ns;
};

struct commit_rows {
	const struct history_build *const *builds;
	size_t n_builds;
	struct history_rows texts;
	TABLE(struct compare_unit) units;      /* by the text's place */
	TABLE(struct query) queries;	       /* the same */
	TABLE(struct pair) pairs;	       /* by unit << 32 | query */
	TABLE(struct work) works;	       /* by the text's place, and whether it is a pass */
	TABLE(struct work_in_crate) in_crates; /* by unit << 32 | work */
	struct commit_cell *cells;
	uint32_t cells_capacity;
	bool has_llvm;
};

static uint64_t known(const struct store_value *cell)
{
	uint64_t number = sql_number(cell);

	return number == HISTORY_UNKNOWN ? 0 : number;
}

/* The cell of a pair in a build; NULL without memory. */
static struct commit_cell *cell_of(struct commit_rows *r, uint32_t unit, uint32_t query,
				   size_t build, struct pair **pair)
{
	size_t stride = r->n_builds * sizeof(*r->cells);
	uint32_t n = r->pairs.n;

	if (array__reserve_one(&r->cells, n, &r->cells_capacity, stride))
		return NULL;
	*pair = table__get(&r->pairs, (uint64_t)unit << 32 | query, .unit = unit, .query = query);
	if (!*pair)
		return NULL;
	if (r->pairs.n > n)
		memset(&r->cells[n * r->n_builds], 0, stride);
	return &r->cells[(*pair - r->pairs.at) * r->n_builds + build];
}

/* Texts are interned, so that equal ones are at one place. */
static int find_unit(struct commit_rows *r, const char *name, const char *type, uint32_t *index)
{
	const char *crate = history_rows__text(&r->texts, name);
	const char *of = history_rows__text(&r->texts, type ?: "");
	struct compare_unit *u;

	if (!crate || !of)
		return -ENOMEM;
	/* A unit's texts are not const as those of traces belong to it; these belong to the rows.
	 */
	u = table__get(&r->units, (uintptr_t)crate, .crate = (char *)crate, .type = (char *)of,
		       .title = (char *)crate, .name = (char *)crate);
	if (!u)
		return -ENOMEM;
	if (type)
		u->type = (char *)of;
	*index = u - r->units.at;
	return 0;
}

static size_t find_build(const struct commit_rows *r, const char *id)
{
	size_t i = 0;

	while (i < r->n_builds && (!id || strcmp(r->builds[i]->build, id)))
		i++;
	return i;
}

/* "build", "crate", "target", "cpu_ns", "wall_ns", "executions", "peak_bytes", "results" */
static int take_compile(void *ctx, const struct store_value *cells, size_t n)
{
	struct commit_rows *r = ctx;
	size_t build = n == 8 ? find_build(r, sql_text(&cells[0])) : 0;
	const char *crate = n == 8 ? sql_text(&cells[1]) : NULL;
	struct commit_cell *to;
	uint64_t wall, peak;
	struct pair *pair;
	uint32_t unit;

	if (n != 8)
		return -EPROTO;
	if (build == r->n_builds || !crate)
		return 0;
	if (find_unit(r, crate, sql_text(&cells[2]), &unit))
		return -ENOMEM;
	to = cell_of(r, unit, NONE, build, &pair);
	if (!to)
		return -ENOMEM;
	wall = known(&cells[4]);
	peak = known(&cells[6]);
	to->in = true;
	to->of[COMPARE_CPU] += history_build__without_cost(r->builds[build], known(&cells[3]));
	to->of[COMPARE_WALL] += wall;
	to->of[COMPARE_TOTAL] += wall;
	to->of[COMPARE_COUNT] += known(&cells[5]);
	to->of[COMPARE_RESULTS] += known(&cells[7]);
	if (peak > to->of[COMPARE_PEAK])
		to->of[COMPARE_PEAK] = peak;
	return 0;
}

/* "build", "crate", "query", "kind", "how", "count", "self_ns", "total_ns" */
static int take_query(void *ctx, const struct store_value *cells, size_t n)
{
	struct commit_rows *r = ctx;
	size_t build = n == 8 ? find_build(r, sql_text(&cells[0])) : 0;
	const char *crate = n == 8 ? sql_text(&cells[1]) : NULL;
	const char *name = n == 8 ? sql_text(&cells[2]) : NULL, *kind, *how;
	struct query *query;
	uint32_t unit;
	struct commit_cell *to;
	struct pair *pair;

	if (n != 8)
		return -EPROTO;
	if (build == r->n_builds || !crate || !name)
		return 0;
	name = history_rows__text(&r->texts, name);
	query = name ? table__get(&r->queries, (uintptr_t)name, .name = name) : NULL;
	if (query && !query->in)
		query->in = calloc(r->n_builds, sizeof(*query->in));
	if (!query || !query->in || find_unit(r, crate, NULL, &unit))
		return -ENOMEM;
	to = cell_of(r, unit, query - r->queries.at, build, &pair);
	if (!to)
		return -ENOMEM;
	kind = sql_text(&cells[3]);
	how = sql_text(&cells[4]);
	pair->kinds |=
		1u << (kind && !strcmp(kind, "activity") ? TRACE_KIND_ACTIVITY : TRACE_KIND_QUERY);
	to->in = true;
	to->by |= how && !strcmp(how, "exact") ? COMPARE_BY_SPANS : COMPARE_BY_SAMPLES;
	if (sql_number(&cells[5]) == HISTORY_UNKNOWN)
		to->by |= COMPARE_UNCOUNTED;
	to->of[COMPARE_COUNT] += known(&cells[5]);
	to->of[COMPARE_SELF] += known(&cells[6]);
	to->of[COMPARE_TOTAL] += known(&cells[7]);
	query->in[build] = true;
	query->uncounted |= to->by & COMPARE_UNCOUNTED;
	return 0;
}

/* "build", "crate", "name", "kind", "self_ns" */
static int take_llvm(void *ctx, const struct store_value *cells, size_t n)
{
	struct commit_rows *r = ctx;
	size_t build = n == 5 ? find_build(r, sql_text(&cells[0])) : 0;
	const char *crate = n == 5 ? sql_text(&cells[1]) : NULL;
	const char *name = n == 5 ? sql_text(&cells[2]) : NULL, *kind, *text;
	struct work_in_crate *in;
	struct work *work;
	uint32_t unit;
	bool is_pass;

	if (n != 5)
		return -EPROTO;
	kind = sql_text(&cells[3]);
	if (build == r->n_builds || !crate || !name || !kind)
		return 0;
	is_pass = !strcmp(kind, "pass");
	text = history_rows__text(&r->texts, name);
	if (!text || find_unit(r, crate, NULL, &unit))
		return -ENOMEM;
	/* Texts are at even places, as malloc() gives them. */
	work = table__get(&r->works, (uintptr_t)text | is_pass, .name = text, .is_pass = is_pass);
	if (!work)
		return -ENOMEM;
	in = table__get(&r->in_crates, (uint64_t)unit << 32 | (uint64_t)(work - r->works.at),
			.unit = unit, .work = (uint32_t)(work - r->works.at));
	if (!in)
		return -ENOMEM;
	if (!in->ns) {
		in->ns = malloc(r->n_builds * sizeof(*in->ns));
		for (size_t b = 0; in->ns && b < r->n_builds; b++)
			in->ns[b] = HISTORY_UNKNOWN;
	}
	if (!in->ns)
		return -ENOMEM;
	in->ns[build] = known(&cells[4]);
	return 0;
}

static int ask(struct store *s, struct commit_rows *r, enum history_table_id table,
	       const char *columns, store_row take)
{
	uint64_t from = UINT64_MAX, to = 0;
	struct sql q = {};

	for (size_t i = 0; i < r->n_builds; i++) {
		uint64_t start = r->builds[i]->start_ns;

		from = start < from ? start : from;
		to = start > to ? start : to;
	}
	sql__add(&q, "SELECT %s FROM %s", columns, dialect__table(store__kind(s), table));
	sql__where_number(&q, "\"start_ns\" >= ?", from);
	sql__where_number(&q, "\"start_ns\" <= ?", to);
	for (size_t i = 0; i < r->n_builds; i++)
		sql__add_text(&q, i ? ", ?" : " AND \"build\" IN (?", r->builds[i]->build);
	sql__add(&q, ")");
	return sql__select(&q, s, take, r);
}

/* A build without a row of a query counts it as not executed, unless it does not count it. */
static bool is_uncounted_in(const struct commit_rows *r, const struct query *q, size_t build)
{
	const struct history_build *b = r->builds[build];

	return b->executions == HISTORY_UNKNOWN ? !q->in[build]
						: history_build__leaves_out(b, q->name);
}

static void find_uncounted(struct commit_rows *r)
{
	for (uint32_t i = 0; i < r->queries.n; i++)
		for (size_t b = 0; b < r->n_builds; b++)
			r->queries.at[i].uncounted |= is_uncounted_in(r, &r->queries.at[i], b);
	for (uint32_t i = 0; i < r->pairs.n; i++) {
		const struct pair *p = &r->pairs.at[i];

		for (size_t b = 0; p->query != NONE && b < r->n_builds; b++)
			if (is_uncounted_in(r, &r->queries.at[p->query], b))
				r->cells[i * r->n_builds + b].by |= COMPARE_UNCOUNTED;
	}
}

/* Sums of queries: of times all; of executions those that all builds have, if some have not all. */
static int add_to_crates(struct commit_rows *r)
{
	bool any_uncounted = commit_rows__uncounted(r);
	uint32_t n = r->pairs.n;

	for (uint32_t i = 0; any_uncounted && i < n; i++)
		for (size_t b = 0; r->pairs.at[i].query == NONE && b < r->n_builds; b++)
			r->cells[i * r->n_builds + b].of[COMPARE_COUNT] = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct pair p = r->pairs.at[i], *crate;

		if (p.query == NONE)
			continue;
		for (size_t b = 0; b < r->n_builds; b++) {
			struct commit_cell *to = cell_of(r, p.unit, NONE, b, &crate);
			const struct commit_cell *from = &r->cells[i * r->n_builds + b];

			if (!to)
				return -ENOMEM;
			to->of[COMPARE_SELF] += from->of[COMPARE_SELF];
			if (any_uncounted && !r->queries.at[p.query].uncounted &&
			    p.kinds & 1u << TRACE_KIND_QUERY)
				to->of[COMPARE_COUNT] += from->of[COMPARE_COUNT];
		}
	}
	return 0;
}

/* The build has the sums of its crates, but for what only it knows. */
static void fill_build(struct commit_rows *r)
{
	for (size_t b = 0; b < r->n_builds; b++) {
		const struct history_build *build = r->builds[b];
		struct commit_cell *to = &r->cells[b];

		for (uint32_t i = 1; i < r->pairs.n; i++) {
			const struct commit_cell *from = &r->cells[i * r->n_builds + b];

			if (r->pairs.at[i].query != NONE)
				continue;
			to->of[COMPARE_SELF] += from->of[COMPARE_SELF];
			to->of[COMPARE_TOTAL] += from->of[COMPARE_TOTAL];
			to->of[COMPARE_COUNT] += from->of[COMPARE_COUNT];
		}
		to->in = true;
		if (build->cpu_ns != HISTORY_UNKNOWN)
			to->of[COMPARE_CPU] = history_build__without_cost(build, build->cpu_ns);
		if (build->wall_ns != HISTORY_UNKNOWN)
			to->of[COMPARE_WALL] = build->wall_ns;
		if (build->peak_bytes != HISTORY_UNKNOWN)
			to->of[COMPARE_PEAK] = build->peak_bytes;
		if (build->results != HISTORY_UNKNOWN)
			to->of[COMPARE_RESULTS] = build->results;
	}
}

/*
 * Of each crate a build has no more than HISTORY_FUNCTIONS functions: what is missing where it has
 * so many may have taken a little less than those.
 */
static int find_cut(struct commit_rows *r)
{
	_free_ uint32_t *n = calloc((size_t)r->units.n * r->n_builds + 1, sizeof(*n));
	_free_ bool *any = calloc(r->n_builds, sizeof(*any));

	if (!n || !any)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->in_crates.n; i++) {
		const struct work_in_crate *in = &r->in_crates.at[i];

		for (size_t b = 0; b < r->n_builds; b++) {
			bool is_there = in->ns[b] != HISTORY_UNKNOWN;

			any[b] |= is_there;
			n[in->unit * r->n_builds + b] += is_there && !r->works.at[in->work].is_pass;
		}
	}
	r->has_llvm = true;
	for (size_t b = 0; b < r->n_builds; b++)
		r->has_llvm &= any[b];
	for (uint32_t i = 0; i < r->in_crates.n; i++) {
		const struct work_in_crate *in = &r->in_crates.at[i];
		struct work *work = &r->works.at[in->work];

		for (size_t b = 0; b < r->n_builds; b++)
			work->is_cut |= !work->is_pass && in->ns[b] == HISTORY_UNKNOWN &&
					n[in->unit * r->n_builds + b] >= HISTORY_FUNCTIONS;
	}
	return 0;
}

/* The sums of what LLVM did, over all crates. */
static int add_llvm(struct commit_rows *r)
{
	int err = find_cut(r);

	for (uint32_t i = 0; !err && r->has_llvm && i < r->in_crates.n; i++) {
		const struct work_in_crate *in = &r->in_crates.at[i];
		const struct work *work = &r->works.at[in->work];

		for (size_t b = 0; !work->is_cut && b < r->n_builds; b++) {
			struct pair *pair;
			struct commit_cell *to = cell_of(
				r, work->is_pass ? OF_PASSES : OF_FUNCTIONS, in->work, b, &pair);

			if (!to)
				return -ENOMEM;
			if (in->ns[b] == HISTORY_UNKNOWN)
				continue;
			to->in = true;
			to->by |= COMPARE_BY_SAMPLES | COMPARE_UNCOUNTED;
			to->of[COMPARE_SELF] += in->ns[b];
		}
	}
	return err;
}

int commit_rows__read(struct store *s, const struct history_build *const *builds, size_t n,
		      struct commit_rows **out)
{
	_commit_rows_ struct commit_rows *r = calloc(1, sizeof(*r));
	struct pair *pair;
	int err;

	if (!r)
		return diag_error_r(-ENOMEM, "out of memory");
	r->builds = builds;
	r->n_builds = n;
	if (!cell_of(r, NONE, NONE, 0, &pair))
		return diag_error_r(-ENOMEM, "out of memory");
	err = ask(s, r, HISTORY_COMPILE,
		  "\"build\", \"crate\", \"target\", \"cpu_ns\", \"wall_ns\", \"executions\", "
		  "\"peak_bytes\", \"results\"",
		  take_compile)
		      ?: ask(s, r, HISTORY_QUERY,
			     "\"build\", \"crate\", \"query\", \"kind\", \"how\", \"count\", "
			     "\"self_ns\", \"total_ns\"",
			     take_query)
		      ?: ask(s, r, HISTORY_LLVM,
			     "\"build\", \"crate\", \"name\", \"kind\", \"self_ns\"", take_llvm);
	if (err)
		return err;
	find_uncounted(r);
	if (add_to_crates(r))
		return diag_error_r(-ENOMEM, "out of memory");
	fill_build(r);
	if (add_llvm(r))
		return diag_error_r(-ENOMEM, "out of memory");
	*out = take_ptr(r);
	return 0;
}

uint32_t commit_rows__n(const struct commit_rows *r)
{
	return r->pairs.n;
}

const struct commit_cell *commit_rows__cells(const struct commit_rows *r, uint32_t pair)
{
	return &r->cells[pair * r->n_builds];
}

const char *commit_rows__query(const struct commit_rows *r, uint32_t pair)
{
	const struct pair *p = &r->pairs.at[pair];

	if (p->query == NONE)
		return NULL;
	return commit_rows__table(r, pair) == COMPARE_OF_QUERIES ? r->queries.at[p->query].name
								 : r->works.at[p->query].name;
}

enum compare_of commit_rows__table(const struct commit_rows *r, uint32_t pair)
{
	uint32_t unit = r->pairs.at[pair].unit;

	return unit == OF_PASSES      ? COMPARE_OF_PASSES
	       : unit == OF_FUNCTIONS ? COMPARE_OF_GENERICS
				      : COMPARE_OF_QUERIES;
}

bool commit_rows__has_llvm(const struct commit_rows *r)
{
	return r->has_llvm;
}

const struct compare_unit *commit_rows__unit(const struct commit_rows *r, uint32_t pair)
{
	uint32_t unit = r->pairs.at[pair].unit;

	return unit < r->units.n ? &r->units.at[unit] : NULL;
}

uint32_t commit_rows__kinds(const struct commit_rows *r, uint32_t pair)
{
	return r->pairs.at[pair].kinds;
}

size_t commit_rows__uncounted(const struct commit_rows *r)
{
	size_t n = 0;

	for (uint32_t i = 0; i < r->queries.n; i++)
		n += r->queries.at[i].uncounted;
	return n;
}

void commit_rows__free(struct commit_rows *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->queries.n; i++)
		free(r->queries.at[i].in);
	for (uint32_t i = 0; i < r->in_crates.n; i++)
		free(r->in_crates.at[i].ns);
	table__destroy(&r->in_crates);
	table__destroy(&r->works);
	table__destroy(&r->units);
	table__destroy(&r->queries);
	table__destroy(&r->pairs);
	history_rows__clear(&r->texts);
	free(r->cells);
	free(r);
}
