// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * From symbols and mined code to a plan. The order of the steps is the order of plan__build():
 * collect the functions by name, mine the bodies, tie each query to its bodies, choose its sites.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/elf_image.h"
#include "plan/mine.h"
#include "plan/names.h"
#include "plan/plan.h"

/* One symbol that matters: a function or a split-off part of one. */
struct piece {
	const struct elf_symbol *sym;
	size_t base_len; /* of the name without .cold or .warm: parts of one function share it */
	struct name_info info;
};

/* A function: the pieces with one base name. */
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
	struct piece *pieces;
	size_t n_pieces;
	struct code_region *regions;
	struct function *funcs;
	size_t n_funcs;
	uint64_t *cold;
	size_t n_cold;
	bool cold_any_kind; /* some of `cold` start guards of other kinds too */
	uint64_t panic_cleanup;
	struct mined_body *mined; /* parallel to plan->bodies */
	struct plan *plan;
	size_t cap_sites;
	bool legacy;
};

static void builder_fini(struct builder *b)
{
	code__free(&b->code);
	code_decoder__free(b->decoder);
	elf_image__free(b->img);
	free(b->pieces);
	free(b->regions);
	free(b->funcs);
	free(b->cold);
	free(b->mined);
	plan__free(b->plan);
}

static size_t base_len(const char *name, enum name_part part)
{
	const char *suffix = part == NAME_PART_COLD   ? ".cold"
			     : part == NAME_PART_WARM ? ".warm"
						      : NULL;
	const char *at = suffix ? strstr(name, suffix) : NULL;

	return at ? (size_t)(at - name) : strlen(name);
}

static int collect_pieces(struct builder *b)
{
	const struct elf_symbol *syms;
	size_t n, cap = 0;
	int err = elf_image__symbols(b->img, &syms, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		struct name_info info;

		name_classify(syms[i].name, &info);
		if (info.kind == NAME_OTHER)
			continue;
		if (b->n_pieces == cap) {
			void *p;

			cap = cap ? cap * 2 : 4096;
			p = reallocarray(b->pieces, cap, sizeof(*b->pieces));
			if (!p)
				return -ENOMEM;
			b->pieces = p;
		}
		b->pieces[b->n_pieces++] =
			(struct piece){&syms[i], base_len(syms[i].name, info.part), info};
	}
	return 0;
}

static int by_base_name(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	size_t len = x->base_len < y->base_len ? x->base_len : y->base_len;
	int cmp = memcmp(x->sym->name, y->sym->name, len);

	if (cmp)
		return cmp;
	if (x->base_len != y->base_len)
		return x->base_len < y->base_len ? -1 : 1;
	if (x->info.part != y->info.part)
		return x->info.part < y->info.part ? -1 : 1;
	return x->sym->addr < y->sym->addr ? -1 : x->sym->addr > y->sym->addr;
}

static bool same_function(const struct piece *a, const struct piece *b)
{
	return a->base_len == b->base_len && !memcmp(a->sym->name, b->sym->name, a->base_len);
}

static int note_single(struct builder *b, const struct piece *p)
{
	if (p->info.part != NAME_PART_ENTRY)
		return 0;
	if (p->info.kind == NAME_PANIC_CLEANUP) {
		b->panic_cleanup = p->sym->addr;
	} else if (p->info.kind == NAME_COLD_PROVIDER || p->info.kind == NAME_COLD_UNKNOWN) {
		void *more = reallocarray(b->cold, b->n_cold + 1, sizeof(*b->cold));

		if (!more)
			return -ENOMEM;
		b->cold = more;
		b->cold[b->n_cold++] = p->sym->addr;
		b->cold_any_kind = b->cold_any_kind || p->info.kind == NAME_COLD_UNKNOWN;
	}
	return 0;
}

/* Turn a run of pieces into a function; parts without an entry belong to nothing. */
static void add_function(struct builder *b, const struct piece *run, size_t n,
			 struct code_region **next)
{
	struct function *f = &b->funcs[b->n_funcs];

	if (run->info.part != NAME_PART_ENTRY)
		return;
	*f = (struct function){
		.kind = run->info.kind,
		.entry = run->sym->addr,
		.query = run->info.query,
		.query_len = run->info.query_len,
		.regions = *next,
	};
	for (size_t i = 0; i < n; i++)
		if (run[i].sym->size)
			f->regions[f->n_regions++] =
				(struct code_region){run[i].sym->addr, run[i].sym->size};
	*next += f->n_regions;
	b->n_funcs++;
	b->legacy = b->legacy || run->info.legacy;
}

static int group_functions(struct builder *b)
{
	struct code_region *next;

	if (b->n_pieces)
		qsort(b->pieces, b->n_pieces, sizeof(*b->pieces), by_base_name);
	b->regions = calloc(b->n_pieces + 1, sizeof(*b->regions));
	b->funcs = calloc(b->n_pieces + 1, sizeof(*b->funcs));
	if (!b->regions || !b->funcs)
		return -ENOMEM;
	next = b->regions;
	for (size_t i = 0, j; i < b->n_pieces; i = j) {
		int err = note_single(b, &b->pieces[i]);

		if (err)
			return err;
		for (j = i + 1; j < b->n_pieces && same_function(&b->pieces[i], &b->pieces[j]);)
			j++;
		add_function(b, &b->pieces[i], j - i, &next);
	}
	return 0;
}

static bool is_body(const struct function *f)
{
	return f->kind == NAME_BODY_NON_INCR || f->kind == NAME_BODY_INCR ||
	       f->kind == NAME_BODY_UNKNOWN;
}

/* Index of the body at `addr`; folded twins share one. */
static uint32_t find_body(const struct plan *plan, uint64_t addr)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan->bodies[i].addr == addr)
			return i;
	return PLAN_NONE;
}

static void note_mask(struct plan *plan, const struct mined_body *mined)
{
	if (!mined->mask_disp || plan->mask_disp == PLAN_MASK_DISAGREES)
		return;
	if (!plan->mask_disp)
		plan->mask_disp = mined->mask_disp;
	else if (plan->mask_disp != mined->mask_disp)
		plan->mask_disp = PLAN_MASK_DISAGREES;
}

static int by_entry(const void *a, const void *b)
{
	const struct function *x = *(const struct function *const *)a;
	const struct function *y = *(const struct function *const *)b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* The parts of all functions with one entry: any of them may own the split-off part that is used.
 */
static size_t unite_regions(struct function *const *twins, size_t n, struct code_region *out)
{
	size_t n_out = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < twins[i]->n_regions; k++) {
			const struct code_region *r = &twins[i]->regions[k];
			size_t same = 0;

			while (same < n_out && out[same].addr != r->addr)
				same++;
			if (same == n_out)
				out[n_out++] = *r;
			else if (r->size > out[same].size)
				out[same].size = r->size;
		}
	return n_out;
}

/* Mine the body that `n` functions share: folded twins, or just one. */
static int add_body(struct builder *b, struct function *const *twins, size_t n,
		    struct code_region *regions)
{
	struct mine_cold cold = {b->cold, b->n_cold, b->cold_any_kind};
	struct mined_body *mined = &b->mined[b->plan->n_bodies];
	struct plan_body *body = &b->plan->bodies[b->plan->n_bodies];
	size_t n_regions = unite_regions(twins, n, regions);
	int err = code_decoder__decode(b->decoder, regions, n_regions, &b->code);

	if (!err)
		err = mine_body(b->img, &b->code, twins[0]->entry, &cold, mined);
	if (err)
		return err;
	*body = (struct plan_body){
		.addr = twins[0]->entry,
		.n_symbols = (uint32_t)n,
		.n_ends = (uint32_t)mined->n_ends,
		.group = b->plan->n_bodies++,
		.incremental = twins[0]->kind == NAME_BODY_INCR,
	};
	note_mask(b->plan, mined);
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
	_free_ struct code_region *regions = calloc(b->n_pieces + 1, sizeof(*regions));
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; bodies && i < b->n_funcs; i++)
		if (is_body(&b->funcs[i]))
			bodies[n++] = &b->funcs[i];
	b->plan->bodies = calloc(n + 1, sizeof(*b->plan->bodies));
	b->mined = calloc(n + 1, sizeof(*b->mined));
	if (!bodies || !regions || !b->plan->bodies || !b->mined)
		return -ENOMEM;
	qsort(bodies, n, sizeof(*bodies), by_entry);
	for (size_t i = 0, j; i < n && !err; i = j) {
		for (j = i + 1; j < n && bodies[j]->entry == bodies[i]->entry;)
			j++;
		err = add_body(b, &bodies[i], j - i, regions);
	}
	return err;
}

/*
 * The body that a wrapper requests its query from: it calls it, or jumps to it, directly (and a
 * second time through a closure when it first has to grow the stack).
 */
static uint32_t body_of_wrapper(struct builder *b, const struct function *f)
{
	uint32_t body = PLAN_NONE;

	if (code_decoder__decode(b->decoder, f->regions, f->n_regions, &b->code))
		return PLAN_NONE;
	for (size_t i = 0; i < b->code.n; i++) {
		const struct code_insn *insn = &b->code.insns[i];

		if (insn->flow != CODE_CALL && insn->flow != CODE_JMP && insn->flow != CODE_JCC)
			continue;
		body = find_body(b->plan, insn->target);
		if (body != PLAN_NONE)
			break;
	}
	return body;
}

static int add_query(struct builder *b, const struct function *f, struct plan_query **out)
{
	struct plan *plan = b->plan;
	struct plan_query *q;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		q = &plan->queries[i];
		if (strlen(q->name) == f->query_len && !memcmp(q->name, f->query, f->query_len)) {
			*out = q;
			return 0;
		}
	}
	q = reallocarray(plan->queries, plan->n_queries + 1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	plan->queries = q;
	q = &plan->queries[plan->n_queries];
	*q = (struct plan_query){.body_non_incr = PLAN_NONE, .body_incr = PLAN_NONE};
	q->name = strndup(f->query, f->query_len);
	if (!q->name)
		return -ENOMEM;
	plan->n_queries++;
	*out = q;
	return 0;
}

static int collect_query(struct builder *b, const struct function *f)
{
	struct plan *plan = b->plan;
	struct plan_query *q;
	int err = add_query(b, f, &q);

	if (err)
		return err;
	switch (f->kind) {
	case NAME_WRAPPER_NON_INCR:
		q->wrapper_non_incr = f->entry;
		q->body_non_incr = body_of_wrapper(b, f);
		break;
	case NAME_WRAPPER_INCR:
		q->wrapper_incr = f->entry;
		q->body_incr = body_of_wrapper(b, f);
		/* Legacy names do not tell a body's mode; who calls it does. */
		if (q->body_incr != PLAN_NONE)
			plan->bodies[q->body_incr].incremental = true;
		break;
	default:
		q->provider = f->entry;
		break;
	}
	return 0;
}

static int by_query_name(const void *a, const void *b)
{
	const struct plan_query *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int collect_queries(struct builder *b)
{
	for (size_t i = 0; i < b->n_funcs; i++) {
		const struct function *f = &b->funcs[i];
		int err = 0;

		if (f->query)
			err = collect_query(b, f);
		if (err)
			return err;
	}
	if (b->plan->n_queries)
		qsort(b->plan->queries, b->plan->n_queries, sizeof(*b->plan->queries),
		      by_query_name);
	return 0;
}

static uint32_t group_of(struct plan *plan, uint32_t body)
{
	while (plan->bodies[body].group != body)
		body = plan->bodies[body].group;
	return body;
}

/*
 * A query's two bodies (incremental or not) are instances of one generic function. Giving them one
 * number lets a start that cannot know the mode of its process be matched with either's ends.
 */
static void join_groups(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];
		uint32_t bodies[] = {q->body_non_incr, q->body_incr};

		for (size_t k = 0; k < 2; k++)
			if (bodies[k] != PLAN_NONE)
				plan->bodies[bodies[k]].n_queries++;
		if (bodies[0] != PLAN_NONE && bodies[1] != PLAN_NONE)
			plan->bodies[group_of(plan, bodies[0])].group = group_of(plan, bodies[1]);
	}
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		plan->bodies[i].group = group_of(plan, i);
}

static int add_site(struct builder *b, struct plan_site site)
{
	struct plan *plan = b->plan;

	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].addr == site.addr && plan->sites[i].role == site.role)
			return 0;
	if (!elf_image__offset(b->img, site.addr, &site.offset))
		return -EFAULT;
	if (plan->n_sites == b->cap_sites) {
		size_t cap = b->cap_sites ? b->cap_sites * 2 : 1024;
		void *p = reallocarray(plan->sites, cap, sizeof(*plan->sites));

		if (!p)
			return -ENOMEM;
		plan->sites = p;
		b->cap_sites = cap;
	}
	plan->sites[plan->n_sites++] = site;
	return 0;
}

static uint8_t class_of(bool emulated)
{
	return emulated ? PLAN_EMULATED : PLAN_STEPPED;
}

static int add_ends(struct builder *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->plan->n_bodies; i++)
		for (size_t k = 0; k < b->mined[i].n_ends && !err; k++) {
			const struct mined_site *end = &b->mined[i].ends[k];

			err = add_site(b, (struct plan_site){
						  .addr = end->addr,
						  .query = PLAN_NONE,
						  .body = i,
						  .role = WIRE_ROLE_END,
						  .cls = class_of(end->emulated),
						  .reg = end->id.reg,
						  .slot = end->id.slot,
					  });
		}
	return err;
}

static int add_entry(struct builder *b, uint64_t entry, enum wire_role role, uint32_t query,
		     uint32_t body, int32_t above)
{
	struct mined_entry at;
	int err = mine_entry(b->decoder, entry, &at);

	if (err)
		return err;
	return add_site(b, (struct plan_site){
				   .addr = at.addr,
				   .query = query,
				   .body = body,
				   .role = role,
				   .cls = class_of(at.emulated),
				   .reg = WIRE_REG_NONE,
				   .slot = PLAN_NO_SLOT,
				   .sp_delta = at.pushed + above,
			   });
}

/* The cookies' room for what an IDENTIFY site reads. */
static bool is_readable(const struct mined_vtable *vt)
{
	return vt->offset >= 0 && vt->offset < 8 * 4096 && vt->slot < 8 * 65535;
}

static int add_masks(struct builder *b, uint32_t body, enum wire_role role, uint32_t query,
		     uint32_t *n)
{
	int err = 0;

	for (size_t k = 0; k < b->mined[body].n_masks && !err; k++, ++*n) {
		const struct mined_site *mask = &b->mined[body].masks[k];
		struct plan_site site = {
			.addr = mask->addr,
			.query = query,
			.body = body,
			.role = role,
			.cls = class_of(mask->emulated),
			.reg = WIRE_REG_NONE,
			.slot = PLAN_NO_SLOT,
		};

		if (role == WIRE_ROLE_IDENTIFY) {
			site.reg = mask->vtable.reg;
			site.slot = mask->vtable.slot;
			site.vtable_offset = mask->vtable.offset;
		}
		err = add_site(b, site);
	}
	return err;
}

/* The mask sites of a body are known, all of them. */
static bool has_masks(const struct builder *b, uint32_t body)
{
	return body != PLAN_NONE && b->mined[body].n_masks && b->mined[body].masks_exact;
}

static bool can_identify(const struct builder *b, uint32_t body)
{
	if (!has_masks(b, body))
		return false;
	for (size_t k = 0; k < b->mined[body].n_masks; k++)
		if (!is_readable(&b->mined[body].masks[k].vtable))
			return false;
	return true;
}

/* Both of a query's bodies run no other query: their mask sites name it by themselves. */
static bool owns_bodies(const struct builder *b, const struct plan_query *q)
{
	return has_masks(b, q->body_non_incr) && has_masks(b, q->body_incr) &&
	       b->plan->bodies[q->body_non_incr].n_queries == 1 &&
	       b->plan->bodies[q->body_incr].n_queries == 1;
}

/* Folded with that of another query, a provider or a wrapper names neither. */
static bool is_own_provider(const struct plan *plan, const struct plan_query *q)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (&plan->queries[i] != q && plan->queries[i].provider == q->provider)
			return false;
	return q->provider;
}

static bool is_own_wrapper(const struct plan *plan, const struct plan_query *q)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (&plan->queries[i] != q &&
		    plan->queries[i].wrapper_non_incr == q->wrapper_non_incr)
			return false;
	return q->wrapper_non_incr;
}

/*
 * How a query's start is seen, best first:
 * 1. a body of its own: the mask site, where self-profile starts its interval too;
 * 2. the provider's entry, if an emulated instruction lies on its straight line;
 * 3. else (the provider is a bare indirect tail call) the non-incremental wrapper, which runs only
 *    to execute the query; with incremental compilation wrappers also run to find it unchanged,
 *    and it may be executed without one, so there the mask site reads which query it is;
 * 4. else the provider's entry, single-stepped.
 */
static enum wire_role choose_start(struct builder *b, const struct plan_query *q)
{
	struct mined_entry at = {0};

	if (owns_bodies(b, q))
		return WIRE_ROLE_START_BODY;
	if (!is_own_provider(b->plan, q) || mine_entry(b->decoder, q->provider, &at))
		return 0;
	if (!at.emulated && is_own_wrapper(b->plan, q) && can_identify(b, q->body_incr))
		return WIRE_ROLE_WRAPPER;
	return WIRE_ROLE_START;
}

static bool is_group_seen(const struct plan *plan, uint32_t group)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];
		uint32_t body = q->body_non_incr != PLAN_NONE ? q->body_non_incr : q->body_incr;

		if (!q->start_role && body != PLAN_NONE && plan->bodies[body].group == group)
			return false;
	}
	return true;
}

/*
 * The end of a wrapper's query is known by its group alone. If not all of the group's starts are
 * seen, it could be that of a nested one: such queries start at their providers.
 */
static void choose_starts(struct builder *b)
{
	struct plan *plan = b->plan;

	for (uint32_t i = 0; i < plan->n_queries; i++)
		plan->queries[i].start_role = choose_start(b, &plan->queries[i]);
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		struct plan_query *q = &plan->queries[i];

		if (q->start_role == WIRE_ROLE_WRAPPER &&
		    !is_group_seen(plan, plan->bodies[q->body_incr].group))
			q->start_role = WIRE_ROLE_START;
	}
}

static int add_starts(struct builder *b, uint32_t i)
{
	struct plan_query *q = &b->plan->queries[i];
	uint32_t body = q->body_non_incr != PLAN_NONE ? q->body_non_incr : q->body_incr;
	int err;

	q->start_exact = q->start_role != 0;
	switch (q->start_role) {
	case WIRE_ROLE_START_BODY:
		err = add_masks(b, q->body_non_incr, WIRE_ROLE_START_BODY, i, &q->n_start);
		return err ? err : add_masks(b, q->body_incr, WIRE_ROLE_START_BODY, i, &q->n_start);
	case WIRE_ROLE_WRAPPER:
		q->n_start = 1;
		err = add_entry(b, q->wrapper_non_incr, WIRE_ROLE_WRAPPER, i, body, 0);
		return err ? err
			   : add_masks(b, q->body_incr, WIRE_ROLE_IDENTIFY, PLAN_NONE, &q->n_start);
	case WIRE_ROLE_START:
		q->n_start = 1;
		/* At the provider's entry only its return address lies below its body's sp. */
		return add_entry(b, q->provider, WIRE_ROLE_START, i, body, 8);
	default:
		return 0;
	}
}

static void judge_ends(const struct builder *b, struct plan_query *q)
{
	uint32_t bodies[] = {q->body_non_incr, q->body_incr};

	q->end_exact = q->has_id = true;
	for (size_t k = 0; k < 2; k++) {
		const struct mined_body *m;

		if (bodies[k] == PLAN_NONE) {
			q->end_exact = q->has_id = false;
			continue;
		}
		m = &b->mined[bodies[k]];
		q->n_end += (uint32_t)m->n_ends;
		if (m->problem)
			q->end_exact = false;
		for (size_t e = 0; e < m->n_ends; e++)
			if (m->ends[e].id.reg == WIRE_REG_NONE &&
			    m->ends[e].id.slot == MINE_NO_SLOT)
				q->has_id = false;
	}
}

static int by_role_and_addr(const void *a, const void *b)
{
	const struct plan_site *x = a, *y = b;

	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int choose_sites(struct builder *b)
{
	struct plan *plan = b->plan;
	int err = add_ends(b);

	choose_starts(b);
	for (uint32_t i = 0; i < plan->n_queries && !err; i++) {
		err = add_starts(b, i);
		judge_ends(b, &plan->queries[i]);
	}
	if (!err && b->panic_cleanup)
		err = add_entry(b, b->panic_cleanup, WIRE_ROLE_CAUGHT, PLAN_NONE, PLAN_NONE, 0);
	if (!err && plan->n_sites)
		qsort(plan->sites, plan->n_sites, sizeof(*plan->sites), by_role_and_addr);
	return err;
}

static int describe(struct builder *b)
{
	struct plan *plan = b->plan;
	const char *version = elf_image__rustc_version(b->img);

	plan->build_id_len = elf_image__identity(b->img, plan->build_id);
	plan->path = strdup(elf_image__path(b->img));
	plan->mangling = strdup(b->legacy ? "legacy" : "v0");
	plan->rustc_version = version ? strdup(version) : NULL;
	return plan->path && plan->mangling && (!version || plan->rustc_version) ? 0 : -ENOMEM;
}

static int build_steps(struct builder *b, const char *path)
{
	int err = elf_image__open(path, &b->img);

	if (!err)
		err = code_decoder__new(b->img, &b->decoder);
	if (!err)
		err = collect_pieces(b);
	if (!err)
		err = group_functions(b);
	if (!err)
		err = mine_bodies(b);
	if (!err)
		err = collect_queries(b);
	if (err)
		return err;
	if (!b->plan->n_queries)
		return diag_error_r(-ENOTSUP,
				    "%s holds no rustc queries under any name known here; looked "
				    "for %s",
				    path, names_looked_for());
	join_groups(b->plan);
	err = choose_sites(b);
	return err ? err : describe(b);
}

int plan__build(const char *path, struct plan **out)
{
	struct builder b = {.plan = calloc(1, sizeof(*b.plan))};
	int err = b.plan ? build_steps(&b, path) : -ENOMEM;

	if (!err)
		*out = take_ptr(b.plan);
	else if (err == -ENOMEM)
		diag_error("cannot plan %s: out of memory", path);
	else if (err == -ENODATA)
		diag_error(
			"%s is stripped: it has no symbol table, so its queries cannot be found; "
			"use a toolchain installed by rustup, whose compilers keep theirs",
			path);
	else if (err == -EFAULT)
		diag_error("cannot plan %s: symbols point outside its code; the file is damaged",
			   path);
	builder_fini(&b);
	return err;
}
