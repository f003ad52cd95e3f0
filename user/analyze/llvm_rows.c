// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/generic_name.h"
#include "analyze/llvm_sums.h"
#include "base/array.h"
#include "plan/symbols/function_name.h"

#define NONE UINT32_MAX

/* The time of a generic function in the compiles of a crate. */
struct use {
	uint32_t generic;
	const char *crate; /* NULL: unknown */
	struct sample_sum self;
};

struct making {
	struct llvm *of;
	bool (*wants)(const void *ctx, const char *name);
	const void *ctx;
	const struct llvm_cell *cells; /* that are asked for */
	uint32_t n_cells;
	bool is_group; /* of processes */
	struct llvm_rows *rows;
	uint32_t passes_capacity, functions_capacity, generics_capacity, rests_capacity;
	/* By string of a symbol, which was named when a sample first had it; NONE: not wanted. */
	TABLE(uint32_t) named;
	struct interner symbols; /* without suffix: the number of each is its function's */
	uint32_t *function_of;	 /* by number of a symbol */
	uint32_t n_function_of;
	uint32_t *generic_of; /* by index of a function */
	uint32_t n_generic_of;
	struct interner definitions; /* the number of each is that of the generic */
	struct interner crates;
	struct interner pass_keys; /* the number of each is that of the row */
	struct u64_map passes;	   /* string of the type << 3 | work << 1 | codegen -> row */
	TABLE(struct use) uses;	   /* by generic << 32 | number of the crate plus 1, or 0 */
};

static void making__clear(struct making *m)
{
	table__destroy(&m->named);
	u64_map__destroy(&m->passes);
	interner__destroy(&m->pass_keys);
	table__destroy(&m->uses);
	interner__destroy(&m->symbols);
	interner__destroy(&m->definitions);
	interner__destroy(&m->crates);
	free(m->function_of);
	free(m->generic_of);
}

static const char *text_of(const struct llvm *l, uint32_t id)
{
	return l->texts.text(l->texts.ctx, id);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

char *llvm_pass_name(const char *type)
{
	static const char *const ends[] = {"WrapperLegacy", "WrapperPass", "LegacyPass",
					   "PassLegacy",    "Legacy",	   "Pass"};
	size_t n = strlen(type);

	for (size_t i = 0; i < N_OF(ends); i++) {
		size_t end = strlen(ends[i]);

		if (n > end && !strcmp(type + n - end, ends[i]))
			return strndup(type, n - end);
	}
	return strdup(type);
}

/* The type of a pass that the stack shows, by the number of its function. NULL: no memory. */
static char *native_type(const struct llvm *l, uint32_t number)
{
	const char *native;
	size_t len = llvm_native_pass(l->code.at[number].name, &native);

	return strndup(native, len);
}

/* The type of the pass of a cell, as the entry or the stack has it. Empty: not known. */
static char *pass_type(const struct llvm *l, const struct llvm_at *at)
{
	if (at->native != LLVM_NO_NATIVE)
		return native_type(l, at->native);
	return strdup(at->entry.pass == TRACE_NO_STRING ? "" : text_of(l, at->entry.pass));
}

static int add_pass(struct making *m, const struct llvm_cell *cell)
{
	bool is_new, is_native = cell->at.native != LLVM_NO_NATIVE;
	uint64_t key = (uint64_t)cell->at.entry.pass << 3 | (uint64_t)cell->work << 1 |
		       cell->at.entry.codegen;
	uint32_t at = is_native ? NONE : u64_map__get(&m->passes, key);
	struct llvm_pass_row row = {.codegen = cell->at.entry.codegen, .work = cell->work};
	struct llvm_rows *rows = m->rows;
	_free_ char *type = at == NONE ? pass_type(m->of, &cell->at) : NULL;
	_free_ char *name = NULL, *text = NULL;

	if (at == NONE) {
		if (!type || asprintf(&text, "%d %d %s", cell->work, row.codegen, type) < 0) {
			text = NULL;
			return -ENOMEM;
		}
		if (interner__id(&m->pass_keys, text, &at, &is_new) ||
		    (!is_native && u64_map__put(&m->passes, key, at)))
			return -ENOMEM;
		if (is_new && *type) {
			row.type = type;
			row.name = name = llvm_pass_name(type);
		}
		if (is_new && ((*type && !name) || array__add(&rows->passes, &rows->n_passes,
							      &m->passes_capacity, &row)))
			return -ENOMEM;
		if (is_new && *type) {
			take_ptr(type);
			take_ptr(name);
		}
	}
	sample_sum__add(&rows->passes[at].self, &cell->self);
	return 0;
}

/* ---- Functions and generics ------------------------------------------------------------------ */

/* The generic that a symbol is a new instance of. */
static int find_generic(struct making *m, struct generic_name *name, uint32_t *out)
{
	struct llvm_rows *rows = m->rows;
	struct llvm_generic row = {.item = TRACE_NO_STRING, .is_one = name->is_one, .symbols = 1};
	struct llvm_generic *known;
	bool is_new;

	if (interner__id(&m->definitions, name->definition, out, &is_new))
		return -ENOMEM;
	if (is_new) {
		row.path = name->path;
		row.crate = name->crate;
		if (array__add(&rows->generics, &rows->n_generics, &m->generics_capacity, &row))
			return -ENOMEM;
		name->path = name->crate = NULL;
		return 0;
	}
	known = &rows->generics[*out];
	known->symbols++;
	/* Another name where instances of one definition are written in different ways. */
	if (name->any_path && strcmp(known->path, name->path) != 0) {
		free(known->path);
		known->path = take_ptr(name->any_path);
	}
	return 0;
}

/* Also by the item that a symbol is an instance of, as tables of items write it. */
static bool is_wanted(const struct making *m, const struct llvm_cell *cell, const char *path,
		      const struct generic_name *name)
{
	const struct llvm_source *source = &m->of->source;
	uint32_t symbol = cell->at.entry.function, item = TRACE_NO_STRING;

	if (!m->wants || m->wants(m->ctx, path) || m->wants(m->ctx, name->path) ||
	    (name->any_path && m->wants(m->ctx, name->any_path)) ||
	    m->wants(m->ctx, text_of(m->of, symbol)))
		return true;
	if (source->item)
		item = source->item(source->ctx, cell->process, symbol);
	return item != TRACE_NO_STRING && m->wants(m->ctx, text_of(m->of, item));
}

/*
 * The function of a string that was not looked up so far; NONE: it is not wanted. Symbols that
 * differ in their suffix are one.
 */
static int find_function(struct making *m, const struct llvm_cell *cell, uint32_t *out)
{
	struct llvm_rows *rows = m->rows;
	struct llvm_function row = {.symbol = text_of(m->of, cell->at.entry.function),
				    .item = TRACE_NO_STRING};
	_free_ char *base = strndup(row.symbol, generic_name_symbol_length(row.symbol));
	_free_ char *path = NULL;
	_generic_name_ struct generic_name name = {};
	uint32_t number;
	bool is_new;

	if (!base || interner__id(&m->symbols, base, &number, &is_new) ||
	    array__reserve_at(&m->function_of, number, &m->n_function_of, sizeof(*out)))
		return -ENOMEM;
	if (!is_new) {
		*out = m->function_of[number];
		return 0;
	}
	*out = m->function_of[number] = NONE;
	path = function_name(base);
	if (!path || generic_name__of(row.symbol, &name))
		return -ENOMEM;
	if (!is_wanted(m, cell, path, &name))
		return 0;
	row.path = path;
	if (array__reserve_at(&m->generic_of, rows->n_functions, &m->n_generic_of,
			      sizeof(*m->generic_of)) ||
	    find_generic(m, &name, &m->generic_of[rows->n_functions]) ||
	    array__add(&rows->functions, &rows->n_functions, &m->functions_capacity, &row))
		return -ENOMEM;
	take_ptr(path);
	*out = m->function_of[number] = rows->n_functions - 1;
	return 0;
}

/* In the compiles of the crate. */
static int add_use(struct making *m, const struct llvm_cell *cell, uint32_t generic)
{
	const struct llvm *l = m->of;
	const char *crate =
		cell->process < l->n_processes ? l->processes[cell->process].crate : NULL;
	uint32_t number = 0;
	struct use *use;
	bool is_new;

	if (!crate || !*crate)
		crate = NULL;
	else if (interner__id(&m->crates, crate, &number, &is_new))
		return -ENOMEM;
	number += crate != NULL;
	use = table__get(&m->uses, (uint64_t)generic << 32 | number, .generic = generic,
			 .crate = crate);
	if (!use)
		return -ENOMEM;
	sample_sum__add(&use->self, &cell->self);
	return 0;
}

/* One of the compilers that made a function may know its item. */
static void note_item(struct making *m, const struct llvm_cell *cell, uint32_t number)
{
	const struct llvm_source *source = &m->of->source;
	struct llvm_function *function = &m->rows->functions[number];
	struct llvm_generic *generic = &m->rows->generics[m->generic_of[number]];

	if (!source->item || function->item != TRACE_NO_STRING)
		return;
	function->item = source->item(source->ctx, cell->process, cell->at.entry.function);
	if (function->item == TRACE_NO_STRING)
		return;
	function->item_path = text_of(m->of, function->item);
	if (generic->item == TRACE_NO_STRING)
		generic->item = function->item;
	else if (strcmp(text_of(m->of, generic->item), function->item_path) != 0)
		generic->is_one = false;
}

static int add_function_time(struct making *m, const struct llvm_cell *cell, bool *wanted)
{
	const uint32_t *named = table__find(&m->named, cell->at.entry.function);
	struct llvm_function *function;
	struct llvm_generic *generic;
	uint32_t number;

	if (!named && (find_function(m, cell, &number) ||
		       !table__get(&m->named, cell->at.entry.function, number)))
		return -ENOMEM;
	number = named ? *named : number;
	*wanted = number != NONE;
	if (!*wanted)
		return 0;
	note_item(m, cell, number);
	function = &m->rows->functions[number];
	generic = &m->rows->generics[m->generic_of[number]];
	sample_sum__add(&function->self, &cell->self);
	sample_sum__add(&generic->self, &cell->self);
	if (cell->at.entry.scope == TRACE_LLVM_SCC) {
		sample_sum__add(&function->component, &cell->self);
		sample_sum__add(&generic->component, &cell->self);
	}
	return add_use(m, cell, m->generic_of[number]);
}

/* ---- Rows of these --------------------------------------------------------------------------- */

/* Keep the most expensive ones, in order. */
static void add_part(struct llvm_generic *generic, struct llvm_part part)
{
	generic->n_crates++;
	for (int i = 0; i < LLVM_PARTS; i++) {
		struct llvm_part next = generic->crates[i];

		if (next.self.value >= part.self.value && next.self.n)
			continue;
		generic->crates[i] = part;
		part = next;
	}
}

/*
 * Only if all functions with the name of a row are of one definition, the number of its instances
 * is that of the row.
 */
static void count_instances(const struct making *m)
{
	const struct llvm_instances *known = &m->of->instances;

	for (uint32_t i = 0; i < m->rows->n_generics; i++) {
		struct llvm_generic *g = &m->rows->generics[i];
		bool all = false;

		if (known->of && g->item != TRACE_NO_STRING)
			g->instances = known->of(known->ctx, g->item, &all);
		g->at_least = !all || !g->is_one || g->instances < g->symbols;
		if (g->instances < g->symbols)
			g->instances = g->symbols;
	}
}

static enum llvm_rest_kind rest_kind(uint64_t key)
{
	return key >> 32 == LLVM_REST_STACK_PASS ? LLVM_REST_PASS
						 : (enum llvm_rest_kind)(key >> 32);
}

/* NULL: no memory. */
static char *rest_name(const struct llvm *l, uint64_t key)
{
	uint32_t number = (uint32_t)key;
	_free_ char *type = NULL;

	switch (key >> 32) {
	case LLVM_REST_WORDS:
		return strdup(llvm_words[number].text);
	case LLVM_REST_PASS:
		return llvm_pass_name(text_of(l, number));
	case LLVM_REST_STACK_PASS:
		type = native_type(l, number);
		return type ? llvm_pass_name(type) : NULL;
	case LLVM_REST_NATIVE:
		return strdup(l->code.at[number].name);
	}
	return strdup("not known");
}

static int add_rests(struct making *m)
{
	struct llvm_rows *rows = m->rows;

	for (uint32_t i = 0; i < m->of->rests.n && !m->wants && !m->is_group; i++) {
		const struct llvm_rest_sum *sum = &m->of->rests.at[i];
		struct llvm_rest row = {
			.name = rest_name(m->of, sum->key),
			.kind = rest_kind(sum->key),
			.self = sum->self,
		};

		if (!row.name ||
		    array__add(&rows->rests, &rows->n_rests, &m->rests_capacity, &row)) {
			free(row.name);
			return -ENOMEM;
		}
	}
	return 0;
}

#define DEFINE_ORDER(type, text)                                                         \
	static int by_##type(const void *a, const void *b)                               \
	{                                                                                \
		const struct type *x = a, *y = b;                                        \
                                                                                         \
		return (x->self.value < y->self.value) - (x->self.value > y->self.value) \
			       ?: strcmp(x->text ?: "", y->text ?: "");                  \
	}
DEFINE_ORDER(llvm_pass_row, name)
DEFINE_ORDER(llvm_function, symbol)
DEFINE_ORDER(llvm_generic, path)
DEFINE_ORDER(llvm_rest, name)

#define SORT(rows, n, order)                                    \
	do {                                                    \
		if (n)                                          \
			qsort(rows, n, sizeof(*(rows)), order); \
	} while (0)

/* That of the compiler that took the most time; NULL: it is not known of any. */
static const char *why_unknown(const struct llvm *l)
{
	const struct llvm_process *most = NULL;

	for (uint32_t i = 0; i < l->n_processes; i++)
		if (l->processes[i].no_llvm &&
		    (!most || l->processes[i].n_samples > most->n_samples))
			most = &l->processes[i];
	return most ? most->no_llvm : NULL;
}

/* Rows of what is asked for. */
static int make(const struct making *asked)
{
	__cleanup(making__clear) struct making m = *asked;
	const struct llvm *l = m.of;
	struct llvm_rows *out = m.rows;

	*out = (struct llvm_rows){
		.totals = l->totals,
		.unknown = !l->n_samples      ? LLVM_NO_SAMPLES
			   : !l->totals.all.n ? LLVM_NOT_RUN
			   : l->n_entries     ? LLVM_KNOWN
					      : LLVM_NOT_READ,
		.why = m.is_group ? NULL : why_unknown(l),
	};
	for (uint32_t i = 0; i < m.n_cells; i++) {
		const struct llvm_cell *cell = &m.cells[i];
		bool wanted = !m.wants;

		if (cell->at.entry.function != TRACE_NO_STRING &&
		    add_function_time(&m, cell, &wanted))
			return -ENOMEM;
		if (wanted && add_pass(&m, cell))
			return -ENOMEM;
	}
	if (add_rests(&m))
		return -ENOMEM;
	for (uint32_t i = 0; i < m.uses.n; i++)
		add_part(&out->generics[m.uses.at[i].generic],
			 (struct llvm_part){m.uses.at[i].crate, m.uses.at[i].self});
	/* Generics have their last names, and will move. */
	for (uint32_t i = 0; i < out->n_functions; i++) {
		out->functions[i].generic = out->generics[m.generic_of[i]].path;
		out->functions[i].crate = out->generics[m.generic_of[i]].crate;
	}
	count_instances(&m);
	SORT(out->passes, out->n_passes, by_llvm_pass_row);
	SORT(out->functions, out->n_functions, by_llvm_function);
	SORT(out->generics, out->n_generics, by_llvm_generic);
	SORT(out->rests, out->n_rests, by_llvm_rest);
	return 0;
}

int llvm__rows(struct llvm *l, bool (*wants)(const void *ctx, const char *name), const void *ctx,
	       struct llvm_rows *out)
{
	return make(&(struct making){.of = l,
				     .wants = wants,
				     .ctx = ctx,
				     .cells = l->cells.at,
				     .n_cells = l->cells.n,
				     .rows = out});
}

static int by_group(const void *a, const void *b, void *groups)
{
	const struct llvm_cell *x = a, *y = b;
	const uint32_t *of = groups;

	return (of[x->process] > of[y->process]) - (of[x->process] < of[y->process]);
}

int llvm__rows_by_group(struct llvm *l, const uint32_t *groups, uint32_t n, llvm_group_fn fn,
			void *ctx)
{
	_free_ struct llvm_cell *cells = calloc(l->cells.n + 1UL, sizeof(*cells));
	uint32_t n_cells = 0, end;
	int err = cells ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < l->cells.n && !err; i++)
		if (l->cells.at[i].process < n && groups[l->cells.at[i].process] != LLVM_NO_GROUP)
			cells[n_cells++] = l->cells.at[i];
	if (n_cells)
		qsort_r(cells, n_cells, sizeof(*cells), by_group, (void *)groups);
	for (uint32_t i = 0; i < n_cells && !err; i = end) {
		_llvm_rows_ struct llvm_rows rows = {};
		uint32_t group = groups[cells[i].process];

		for (end = i; end < n_cells && groups[cells[end].process] == group;)
			end++;
		err = make(&(struct making){.of = l,
					    .cells = &cells[i],
					    .n_cells = end - i,
					    .is_group = true,
					    .rows = &rows});
		err = err ?: fn(ctx, group, &rows);
	}
	return err;
}

void llvm_rows__clear(struct llvm_rows *rows)
{
	for (uint32_t i = 0; i < rows->n_passes; i++) {
		free(rows->passes[i].name);
		free(rows->passes[i].type);
	}
	for (uint32_t i = 0; i < rows->n_functions; i++)
		free(rows->functions[i].path);
	for (uint32_t i = 0; i < rows->n_generics; i++) {
		free(rows->generics[i].path);
		free(rows->generics[i].crate);
	}
	for (uint32_t i = 0; i < rows->n_rests; i++)
		free(rows->rests[i].name);
	free(rows->passes);
	free(rows->functions);
	free(rows->generics);
	free(rows->rests);
	*rows = (struct llvm_rows){};
}

/* ---- Of a thread ----------------------------------------------------------------------------- */

/* *out stays NULL if it has no name. */
static int name_work(const struct llvm *l, const struct llvm_last *last, char **out)
{
	_free_ char *type = NULL;

	if (last->for_none) {
		enum llvm_rest_kind kind = rest_kind(last->rest);

		if (kind != LLVM_REST_WORDS && kind != LLVM_REST_PASS)
			return 0;
		*out = rest_name(l, last->rest);
		return *out ? 0 : -ENOMEM;
	}
	type = pass_type(l, &last->at);
	if (type && *type)
		*out = llvm_pass_name(type);
	return type && (!*type || *out) ? 0 : -ENOMEM;
}

int llvm__doing(const struct llvm *l, uint32_t process, uint32_t tid, struct llvm_doing *out)
{
	uint32_t at = u64_map__get(&l->threads.index.index_of, (uint64_t)process << 32 | tid);
	const struct llvm_last *last = at == U64_MAP_NONE ? NULL : &l->threads.at[at];
	_generic_name_ struct generic_name name = {};
	_llvm_doing_ struct llvm_doing doing = {};

	if (!last || !last->in_llvm)
		return -ENOENT;
	if (name_work(l, last, &doing.what))
		return -ENOMEM;
	if (last->at.entry.function != TRACE_NO_STRING) {
		if (generic_name__of(text_of(l, last->at.entry.function), &name))
			return -ENOMEM;
		doing.function = take_ptr(name.path);
	}
	if (!doing.what && !doing.function)
		return -ENOENT;
	*out = doing;
	doing = (struct llvm_doing){};
	return 0;
}

void llvm_doing__clear(struct llvm_doing *d)
{
	free(d->what);
	free(d->function);
	*d = (struct llvm_doing){};
}
