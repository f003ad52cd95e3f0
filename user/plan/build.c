// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * From symbols and mined code to a plan. The order of the steps is the order of plan__build():
 * collect the functions by name, mine the bodies, tie each query to its bodies, choose its sites.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "plan/check.h"
#include "plan/mine/active_jobs.h"
#include "plan/mine/guards.h"
#include "plan/mine/between.h"
#include "plan/mine/body.h"
#include "plan/mine/feeds.h"
#include "plan/mine/frames.h"
#include "plan/mine/keys.h"
#include "plan/mine/layout.h"
#include "plan/mine/owners.h"
#include "plan/mine/tables.h"
#include "plan/plan.h"
#include "plan/mine/sites.h"
#include "plan/recover/modes.h"
#include "plan/recover/recover.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/function_name.h"

/* rustc 1.97 has 321 queries and 428 bodies. What is done with them is not linear. */
#define QUERIES_MOST 4096
#define BODIES_MOST  4096

/* A function: the known symbols with one base name, itself and its split-off parts. */
struct function {
	enum name_kind kind;
	uint64_t entry;
	const char *query;
	size_t query_len;
	struct code_region *regions; /* into builder.regions */
	size_t n_regions;
};

struct builder {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	struct known_symbols known;
	struct code_region *regions;
	struct function *funcs;
	size_t n_funcs;
	uint64_t *cold;
	uint32_t n_cold, cap_cold;
	uint32_t cap_queries; /* of the plan's */
	bool cold_any_kind;   /* some of `cold` start guards of other kinds too */
	uint64_t panic_cleanup;
	struct mined_body *mined; /* parallel to plan->bodies */
	struct frame_drafts frames;
	struct plan *plan;
	struct query_numbers numbers; /* recovered */
	const char *unrecovered;      /* why a library without symbols gets no names */
	bool legacy;
};

static void builder_fini(struct builder *b)
{
	code__free(&b->code);
	code_decoder__free(b->decoder);
	elf_image__free(b->img);
	known_symbols__destroy(&b->known);
	free(b->regions);
	free(b->funcs);
	free(b->cold);
	free(b->mined);
	frame_drafts__clear(&b->frames);
	query_numbers__destroy(&b->numbers);
	plan__free(b->plan);
}

static int by_base_name(const void *a, const void *b)
{
	const struct known_symbol *x = *(const struct known_symbol *const *)a;
	const struct known_symbol *y = *(const struct known_symbol *const *)b;
	uint32_t x_len = x->sym->base_len, y_len = y->sym->base_len;
	int cmp = memcmp(x->sym->name, y->sym->name, x_len < y_len ? x_len : y_len);

	if (cmp)
		return cmp;
	if (x_len != y_len)
		return x_len < y_len ? -1 : 1;
	if (x->info.part != y->info.part)
		return x->info.part < y->info.part ? -1 : 1;
	return x->sym->addr < y->sym->addr ? -1 : x->sym->addr > y->sym->addr;
}

static bool same_function(const struct elf_symbol *a, const struct elf_symbol *b)
{
	return a->base_len == b->base_len && !memcmp(a->name, b->name, a->base_len);
}

/* Turn each run of symbols with one base name into a function; drop parts without an entry. */
static int group_functions(struct builder *b)
{
	uint32_t n = b->known.n;
	_free_ const struct known_symbol **sorted = calloc(n + 1UL, sizeof(*sorted));
	struct code_region *next;

	b->regions = next = calloc(n + 1UL, sizeof(*b->regions));
	b->funcs = calloc(n + 1UL, sizeof(*b->funcs));
	if (!sorted || !b->regions || !b->funcs)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = &b->known.items[i];
	qsort(sorted, n, sizeof(*sorted), by_base_name);
	for (size_t i = 0, j; i < n; i = j) {
		const struct name_info *info = &sorted[i]->info;
		const uint64_t entry = sorted[i]->sym->addr;
		struct function *f = &b->funcs[b->n_funcs];

		for (j = i + 1; j < n && same_function(sorted[i]->sym, sorted[j]->sym);)
			j++;
		if (info->part != NAME_PART_ENTRY)
			continue;
		if (info->kind == NAME_PANIC_CLEANUP)
			b->panic_cleanup = entry;
		if (info->kind == NAME_COLD_PROVIDER || info->kind == NAME_COLD_UNKNOWN) {
			b->cold_any_kind = b->cold_any_kind || info->kind == NAME_COLD_UNKNOWN;
			if (array__add(&b->cold, &b->n_cold, &b->cap_cold, &entry))
				return -ENOMEM;
		}
		*f = (struct function){
			.kind = info->kind,
			.entry = entry,
			.query = info->query,
			.query_len = info->query_len,
			.regions = next,
		};
		for (size_t k = i; k < j; k++)
			if (sorted[k]->sym->size)
				f->regions[f->n_regions++] = (struct code_region){
					sorted[k]->sym->addr, sorted[k]->sym->size};
		next += f->n_regions;
		b->n_funcs++;
		b->legacy = b->legacy || info->legacy;
	}
	return 0;
}

static bool is_body(const struct function *f)
{
	return f->kind == NAME_BODY_NON_INCR || f->kind == NAME_BODY_INCR ||
	       f->kind == NAME_BODY_UNKNOWN;
}

static int by_entry(const void *a, const void *b)
{
	const struct function *x = *(const struct function *const *)a;
	const struct function *y = *(const struct function *const *)b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/*
 * Mine the body that `n` functions share: folded twins, or just one. It has the parts of all of
 * them: the split-off part that is used may belong to any.
 */
static int add_body(struct builder *b, struct function *const *twins, size_t n,
		    struct code_region *regions)
{
	struct mine_cold cold = {b->cold, b->n_cold, b->cold_any_kind};
	struct plan *plan = b->plan;
	struct mined_body *mined = &b->mined[plan->n_bodies];
	struct plan_body *body = &plan->bodies[plan->n_bodies];
	size_t n_regions = 0;
	int err;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < twins[i]->n_regions; k++)
			code_region__add(regions, &n_regions, twins[i]->regions[k]);
	err = code_decoder__decode(b->decoder, regions, n_regions, &b->code)
		      ?: mine_body(b->img, &b->code, twins[0]->entry, &cold, &b->frames, mined)
		      ?: frame_drafts__function(&b->frames, PLAN_FRAME_BODY, twins[0]->entry,
						regions, n_regions);
	if (err)
		return err;
	*body = (struct plan_body){
		.addr = twins[0]->entry,
		.n_symbols = (uint32_t)n,
		.n_ends = (uint32_t)mined->n_ends,
		.group = plan->n_bodies++,
		.incremental = twins[0]->kind == NAME_BODY_INCR,
	};
	if (mined->mask_disp && !plan->mask_disp)
		plan->mask_disp = mined->mask_disp;
	else if (mined->mask_disp && plan->mask_disp != mined->mask_disp)
		plan->mask_disp = PLAN_MASK_DISAGREES;
	if (mined->problem) {
		body->problem = strdup(mined->problem);
		if (!body->problem)
			return -ENOMEM;
	}
	return 0;
}

static int mine_bodies(struct builder *b)
{
	_free_ struct function **bodies = calloc(b->n_funcs + 1, sizeof(*bodies));
	_free_ struct code_region *regions = calloc(b->known.n + 1UL, sizeof(*regions));
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; bodies && i < b->n_funcs; i++)
		if (is_body(&b->funcs[i]))
			bodies[n++] = &b->funcs[i];
	b->plan->bodies = calloc(n + 1, sizeof(*b->plan->bodies));
	b->mined = calloc(n + 1, sizeof(*b->mined));
	if (!bodies || !regions || !b->plan->bodies || !b->mined)
		return -ENOMEM;
	if (n > BODIES_MOST)
		return -EFBIG;
	qsort(bodies, n, sizeof(*bodies), by_entry);
	for (size_t i = 0, j; i < n && !err; i = j) {
		for (j = i + 1; j < n && bodies[j]->entry == bodies[i]->entry;)
			j++;
		err = add_body(b, &bodies[i], j - i, regions);
	}
	return err;
}

/*
 * The body of a wrapper: the one that it holds, or else the first that it calls, or jumps to,
 * directly (and a second time through a closure, if it first has to grow the stack).
 */
static int find_body(struct builder *b, const struct function *f, uint32_t *body)
{
	*body = plan__body_at(b->plan, f->entry);
	if (*body != PLAN_NONE ||
	    code_decoder__decode(b->decoder, f->regions, f->n_regions, &b->code))
		return 0;
	for (size_t i = 0; i < b->code.n && *body == PLAN_NONE; i++) {
		const struct code_insn *insn = &b->code.insns[i];

		if (insn->flow == CODE_CALL || insn->flow == CODE_JMP || insn->flow == CODE_JCC)
			*body = plan__body_at(b->plan, insn->target);
	}
	if (*body == PLAN_NONE)
		return 0;
	return frame_drafts__wrapper(&b->frames, &b->code, f->entry, b->plan->bodies[*body].addr);
}

/* Add to its query what the function is of it. The functions of a query follow each other. */
static int collect_query(struct builder *b, const struct function *f)
{
	struct plan *plan = b->plan;
	struct plan_query *q = plan->n_queries ? &plan->queries[plan->n_queries - 1] : NULL;
	const struct query_number *number;
	int err;

	if (!q || strlen(q->name) != f->query_len || memcmp(q->name, f->query, f->query_len)) {
		if (plan->n_queries == QUERIES_MOST)
			return -EFBIG;
		if (array__reserve_one(&plan->queries, plan->n_queries, &b->cap_queries,
				       sizeof(*q)))
			return -ENOMEM;
		q = &plan->queries[plan->n_queries];
		*q = (struct plan_query){.body_non_incr = PLAN_NONE, .body_incr = PLAN_NONE};
		q->name = strndup(f->query, f->query_len);
		if (!q->name)
			return -ENOMEM;
		plan->n_queries++;
	}
	switch (f->kind) {
	case NAME_WRAPPER_NON_INCR:
		q->wrapper_non_incr = f->entry;
		number = query_numbers__of(&b->numbers, f->entry);
		q->number = number ? number->number : 0;
		return find_body(b, f, &q->body_non_incr);
	case NAME_WRAPPER_INCR:
		q->wrapper_incr = f->entry;
		err = find_body(b, f, &q->body_incr);
		/* A legacy name does not show the body's mode; the wrapper that calls it does. */
		if (q->body_incr != PLAN_NONE)
			plan->bodies[q->body_incr].incremental = true;
		return err;
	default:
		q->provider = f->entry;
		if (!code_decoder__decode(b->decoder, f->regions, f->n_regions, &b->code))
			q->stays = frames_stays(&b->code);
		return frame_drafts__function(&b->frames, PLAN_FRAME_PROVIDER, f->entry, f->regions,
					      f->n_regions);
	}
}

/* Then by their place in the builder, which is that of their names. */
static int by_query(const void *a, const void *b)
{
	const struct function *x = *(const struct function *const *)a;
	const struct function *y = *(const struct function *const *)b;
	size_t len = x->query_len < y->query_len ? x->query_len : y->query_len;
	int cmp = memcmp(x->query, y->query, len);

	if (cmp)
		return cmp;
	if (x->query_len != y->query_len)
		return x->query_len < y->query_len ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int collect_queries(struct builder *b)
{
	_free_ const struct function **sorted = calloc(b->n_funcs + 1, sizeof(*sorted));
	const struct plan *plan = b->plan;
	size_t n = 0;
	int err = sorted ? 0 : -ENOMEM;

	for (size_t i = 0; sorted && i < b->n_funcs; i++)
		if (b->funcs[i].query)
			sorted[n++] = &b->funcs[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_query);
	for (size_t i = 0; i < n && !err; i++)
		err = collect_query(b, sorted[i]);
	for (uint32_t i = 0; i < plan->n_queries && !err; i++) {
		uint32_t a = plan->queries[i].body_non_incr, c = plan->queries[i].body_incr;

		if (a != PLAN_NONE)
			plan->bodies[a].n_queries++;
		if (c != PLAN_NONE && c != a)
			plan->bodies[c].n_queries++;
	}
	return err;
}

static uint32_t group_of(struct plan *plan, uint32_t body)
{
	while (plan->bodies[body].group != body)
		body = plan->bodies[body].group;
	return body;
}

/*
 * A query's two bodies (incremental or not) are instances of one generic function. They share a
 * group, so that a start which does not know the mode of its process matches the ends of both.
 */
static void join_groups(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (q->body_non_incr != PLAN_NONE && q->body_incr != PLAN_NONE)
			plan->bodies[group_of(plan, q->body_non_incr)].group =
				group_of(plan, q->body_incr);
	}
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan->bodies[i].outlined)
			plan->bodies[group_of(plan, plan__outlined(plan, i))].group =
				group_of(plan, i);
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		plan->bodies[i].group = group_of(plan, i);
}

/*
 * A breakpoint is written only on an instruction that the kernel emulates. Where another
 * instruction is left out, events are missed, and the query or guard is marked as not exact. A
 * guard whose start or ends cannot be probed gets no sites at all.
 */
static int leave_out_stepped(struct plan *plan)
{
	_free_ bool *without = calloc(plan->n_guards + 1UL, sizeof(*without));
	uint32_t n = 0;

	if (!without)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (s->cls != PLAN_STEPPED)
			continue;
		if (s->guard != PLAN_NONE) {
			struct plan_guard *g = &plan->guards[s->guard];

			without[s->guard] = true;
			g->exact = false;
			g->n_end = 0;
			g->problem = g->problem
					     ?: strdup("the kernel does not emulate an instruction "
						       "that it would be seen by");
			if (!g->problem)
				return -ENOMEM;
		} else if (s->role == WIRE_ROLE_END) {
			for (uint32_t q = 0; q < plan->n_queries; q++)
				if (plan__serves(plan, &plan->queries[q], s->body))
					plan->queries[q].end_exact = false;
		}
	}
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (s->cls != PLAN_STEPPED && (s->guard == PLAN_NONE || !without[s->guard]))
			plan->sites[n++] = *s;
	}
	plan->n_sites = n;
	return 0;
}

static int open_library(struct builder *b, struct library_file *file, struct debug_file *debug)
{
	enum symbol_source source;
	int err = recover__map(file, debug, &b->img, &source, &b->numbers, &b->unrecovered)
			  ?: code_decoder__new(b->img, &b->decoder);

	if (err)
		return err;
	b->plan->symbols = source;
	if (source == SYMBOLS_OF_LIBRARY || source == SYMBOLS_OF_DEBUGDATA ||
	    source == SYMBOLS_RECOVERED)
		return 0;
	b->plan->symbols_file = strdup(debug->path);
	return b->plan->symbols_file ? 0 : -ENOMEM;
}

static int find_queries(struct builder *b, struct library_file *file)
{
	int err = known_symbols__find(b->img, &b->known) ?: group_functions(b)
			  ?: mine_bodies(b) ?: collect_queries(b);

	if (err)
		return err;
	if (!b->plan->n_queries)
		return diag_error_r(-ENOTSUP,
				    "%s holds no rustc queries under any name known here; looked "
				    "for %s",
				    library_file__path(file), names_looked_for());
	err = outlined_find(b->img, b->decoder, b->plan, b->mined);
	if (!err && b->plan->symbols == SYMBOLS_RECOVERED)
		err = modes__check(b->img, &b->known, b->plan, &b->unrecovered);
	if (err || b->unrecovered)
		return err ?: -ENODATA;
	join_groups(b->plan);
	if (!b->numbers.n)
		return between_find(b->img, b->decoder, b->plan, b->mined)
			       ?: provider_callers_find(b->img, b->decoder, b->plan);
	/* Such queries start in their bodies, wherever these call the provider. */
	return identify_by_number(b->img, b->decoder, b->plan, b->mined, &b->numbers);
}

static int add_context_site(struct builder *b, uint64_t addr)
{
	struct plan_site site = {
		.addr = addr,
		.query = PLAN_NONE,
		.body = PLAN_NONE,
		.guard = PLAN_NONE,
		.role = WIRE_ROLE_DROP,
		.cls = PLAN_EMULATED,
		.reg = WIRE_REG_NONE,
		.slot = PLAN_NO_SLOT,
		.key_reg = WIRE_REG_NONE,
		.key_slot = PLAN_NO_SLOT,
	};
	int err = sites_add(b->img, b->plan, site);

	sites_sort(b->plan);
	return err;
}

static int keep_problem(char **to, const char *problem)
{
	*to = strdup(problem);
	return *to ? 0 : -ENOMEM;
}

/* An unknown layout is no error: names are left out. */
static int find_layout(struct builder *b, const struct layout_function *functions, size_t n)
{
	struct plan_layout *l = &b->plan->layout;
	const char *problem;
	int err;

	err = layout_mine(b->img, b->decoder, functions, n, l, &problem);
	if (err || problem)
		return err ?: keep_problem(&l->problem, problem);
	err = layout_mine_crates(b->img, functions, n, &l->wire, &l->wire.crates, &problem);
	if (!err && problem)
		err = keep_problem(&l->crates_problem, problem);
	if (!err)
		err = layout_context_mine(b->img, functions, n, &l->wire.current, &problem);
	if (!err && problem)
		err = keep_problem(&l->current_problem, problem);
	if (!err)
		err = layout_mine_places(b->img, functions, n, &l->wire, &l->wire.places, &problem);
	if (!err && problem)
		err = keep_problem(&l->places_problem, problem);
	return err ?: add_context_site(b, l->wire.drop);
}

/* The entry of a query, of which both bodies must show the same. */
static struct plan_job_entry common_entry(const struct plan *plan, const struct plan_query *q,
					  const struct active_jobs *of_bodies)
{
	static const struct plan_job_entry none;
	const struct plan_job_entry *found = NULL;
	uint32_t bodies[] = {q->body_non_incr, q->body_incr};

	for (size_t i = 0; i < N_OF(bodies); i++) {
		const struct plan_job_entry *e;

		if (bodies[i] >= plan->n_bodies)
			continue;
		e = &of_bodies[bodies[i]].entry;
		if (!e->size || (found && memcmp(e, found, sizeof(*e))))
			return none;
		found = e;
	}
	return found ? *found : none;
}

/* Queries without a key, which have one size of entry, show what the others have beside theirs. */
static void infer_keys(struct plan *plan)
{
	struct plan_job_entry state = {0};

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (q->key != WIRE_KEY_UNIT || !q->active.size)
			continue;
		if (state.size && memcmp(&q->active, &state, sizeof(state)))
			return;
		state = q->active;
	}
	for (uint32_t i = 0; i < plan->n_queries && state.size; i++)
		if (plan->queries[i].key != WIRE_KEY_UNIT && plan->queries[i].active.size)
			active_jobs_infer_key(&plan->queries[i].active, &state);
}

/* What all bodies must agree on. */
static const char *agree_on_jobs(const struct active_jobs *of_bodies, uint32_t n,
				 struct plan_jobs *out)
{
	const struct active_jobs *first = NULL, *table = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct active_jobs *a = &of_bodies[i];

		if (!a->entry.size)
			continue;
		first = first ?: a;
		if (a->current != first->current)
			return "bodies find the job around at different places";
		if (!a->has_table)
			continue;
		table = table ?: a;
		if (a->ctrl != table->ctrl || a->mask != table->mask)
			return "bodies read tables of active jobs in different ways";
	}
	if (!first || !table)
		return "no body shows its table of active jobs";
	*out = (struct plan_jobs){
		.current = first->current, .ctrl = table->ctrl, .mask = table->mask, .known = true};
	return NULL;
}

/* Unknown jobs are no error: samples have none. */
static int find_active_jobs(struct builder *b)
{
	struct plan *plan = b->plan;
	_free_ struct active_jobs *jobs = calloc(plan->n_bodies + 1UL, sizeof(*jobs));
	const char *problem;

	if (!jobs)
		return -ENOMEM;
	if (!plan->layout.wire.current.known)
		return keep_problem(&plan->jobs.problem, "a thread's current context is unknown");
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (active_jobs_mine(b->img, plan->bodies[i].addr, plan->layout.wire.current.offset,
				     &jobs[i], &problem))
			return -ENOMEM;
	problem = agree_on_jobs(jobs, plan->n_bodies, &plan->jobs);
	if (problem)
		return keep_problem(&plan->jobs.problem, problem);
	for (uint32_t i = 0; i < plan->n_queries; i++)
		plan->queries[i].active = common_entry(plan, &plan->queries[i], jobs);
	infer_keys(plan);
	return 0;
}

static int place_probes(struct builder *b)
{
	_free_ struct layout_function *functions = calloc(b->n_funcs + 1, sizeof(*functions));
	_keys_finder_ struct keys_finder *keys = NULL;
	uint64_t finished = 0;
	int err = functions ? keys_finder__new(b->img, &b->known, b->decoder, b->plan, &keys)
			    : -ENOMEM;

	if (err)
		return err;
	for (size_t i = 0; i < b->n_funcs; i++) {
		const struct function *f = &b->funcs[i];

		functions[i] = (struct layout_function){f->kind,      f->entry, f->regions,
							f->n_regions, f->query, f->query_len};
		if (f->kind == NAME_QUERY_STRINGS)
			finished = f->entry;
	}
	err = sites_choose(b->img, b->decoder, b->plan, b->mined, b->panic_cleanup)
		      ?: find_layout(b, functions, b->n_funcs)
		      ?: find_active_jobs(b);
	/* When the tables of results can be read; only the drop of the context is left without. */
	b->plan->tables.finished = finished;
	if (!err && finished)
		err = add_context_site(b, finished);
	err = err
		      ?: guards_add(b->img, &b->known, b->decoder, b->plan, b->mined, &b->frames)
		      /* Before guards are given up that no probe can see: these need none. */
		      ?: frames_place(b->plan, &b->frames);
	return err ?: leave_out_stepped(b->plan) ?: keys_finder__place(keys)
		       ?: tables__mine(b->img, b->decoder, functions, b->n_funcs, b->plan)
		       ?: feeds__mine(b->img, b->decoder, b->plan);
}

static int build_steps(struct builder *b, struct library_file *file, struct debug_file *debug)
{
	const char *path = library_file__path(file), *excess, *version;
	struct plan *plan = b->plan;
	int err = open_library(b, file, debug) ?: find_queries(b, file);

	if (err)
		return err;
	err = place_probes(b);
	if (!err && code_decoder__is_spent(b->decoder))
		err = -EFBIG;
	if (err == -E2BIG)
		return diag_error_r(
			-ENOTSUP, "%s has a function with more guards than a probe can tell apart",
			path);
	if (err)
		return err;
	excess = plan_excess(plan);
	if (excess)
		return diag_error_r(-ENOTSUP, "%s has %s: more than a probe can tell apart", path,
				    excess);
	plan->code_crc = plan_code_crc(b->img, plan);
	version = elf_image__rustc_version(b->img);
	plan->build_id_len = elf_image__identity(b->img, plan->build_id);
	plan->file = library_file__ref(elf_image__file(b->img));
	plan->path = strdup(elf_image__path(b->img));
	plan->mangling = strdup(b->legacy ? "legacy" : "v0");
	plan->rustc_version = version ? strdup(version) : NULL;
	return plan->path && plan->mangling && (!version || plan->rustc_version) ? 0 : -ENOMEM;
}

int plan__build(struct library_file *file, struct debug_file *debug, struct plan **out)
{
	const char *path = library_file__path(file);
	struct builder b = {.plan = calloc(1, sizeof(*b.plan))};
	int err = b.plan ? build_steps(&b, file, debug) : -ENOMEM;

	if (!err)
		*out = take_ptr(b.plan);
	else if (err == -ENOMEM)
		diag_error("cannot plan %s: out of memory", path);
	else if (err == -EFBIG)
		diag_error(
			"cannot plan %s: its symbols are not those of a compiler: they have more "
			"than %u queries, %u bodies of try_execute_query, 65,536 functions of "
			"rustc's profiler, 256 MiB of names, or 64 MiB of code",
			path, QUERIES_MOST, BODIES_MOST);
	else if (err == -ENODATA && b.unrecovered == recover_no_compiler)
		diag_error("%s is no library of a compiler: %s; name a rustc, or its "
			   "librustc_driver",
			   path, b.unrecovered);
	else if (err == -ENODATA)
		diag_error(
			"%s is stripped: it has no symbol table and no debug file, and its queries "
			"cannot be found by its code: %s; install its debug symbols, or use a "
			"toolchain installed by rustup, whose compilers keep theirs",
			path, b.unrecovered ?: "it has no functions");
	else if (err == -EFAULT)
		diag_error("cannot plan %s: symbols point outside its code; the file is damaged",
			   path);
	builder_fini(&b);
	return err;
}
