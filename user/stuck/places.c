// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/places.h"

#include <errno.h>
#include <string.h>

#include "base/bisect.h"
#include "base/diag.h"
#include "plan/symbols/functions.h"
#include "plan/symbols/names.h"

/* The entry of a query's function. */
struct entry {
	uint64_t addr;
	uint32_t query;
};

struct places {
	char *path;
	struct functions *functions;
	char **queries;
	uint32_t n_queries;
	char **guards;
	uint32_t n_guards;
	struct entry *entries; /* sorted by address; several queries may share one address */
	size_t n_entries;
	struct plan_held_key *held_keys; /* sorted by address */
	size_t n_held_keys;
	struct wire_memory_key *memory; /* by query */
	struct plan_layout layout;
};

static int by_address(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void add_entry(struct places *p, uint64_t addr, uint32_t query)
{
	if (addr)
		p->entries[p->n_entries++] = (struct entry){addr, query};
}

static void add_body(struct places *p, const struct plan *plan, uint32_t body, uint32_t query)
{
	if (body != PLAN_NONE)
		add_entry(p, plan->bodies[body].addr, query);
}

static int copy_queries(struct places *p, const struct plan *plan)
{
	p->queries = calloc(plan->n_queries + 1UL, sizeof(*p->queries));
	p->entries = calloc(5UL * plan->n_queries + 1, sizeof(*p->entries));
	if (!p->queries || !p->entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		p->queries[i] = strdup(q->name);
		if (!p->queries[i])
			return -ENOMEM;
		p->n_queries++;
		add_entry(p, q->wrapper_non_incr, i);
		add_entry(p, q->wrapper_incr, i);
		add_entry(p, q->provider, i);
		add_body(p, plan, q->body_non_incr, i);
		add_body(p, plan, q->body_incr, i);
	}
	qsort(p->entries, p->n_entries, sizeof(*p->entries), by_address);
	return 0;
}

static int copy_guards(struct places *p, const struct plan *plan)
{
	p->guards = calloc(plan->n_guards + 1UL, sizeof(*p->guards));
	if (!p->guards)
		return -ENOMEM;
	p->n_guards = plan->n_guards;
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		p->guards[i] = plan->guards[i].label ? strdup(plan->guards[i].label) : NULL;
		if (plan->guards[i].label && !p->guards[i])
			return -ENOMEM;
	}
	return 0;
}

static int copy_keys(struct places *p, const struct plan *plan)
{
	p->held_keys = calloc(plan->n_held_keys + 1UL, sizeof(*p->held_keys));
	p->memory = calloc(plan->n_queries + 1UL, sizeof(*p->memory));
	if (!p->held_keys || !p->memory)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries; i++)
		p->memory[i] = plan->queries[i].memory;
	p->n_held_keys = plan->n_held_keys;
	if (p->n_held_keys)
		memcpy(p->held_keys, plan->held_keys, p->n_held_keys * sizeof(*p->held_keys));
	p->layout = plan->layout;
	p->layout.problem = p->layout.crates_problem = p->layout.current_problem = NULL;
	return 0;
}

int places__new(const struct plan *plan, struct places **out)
{
	_places_ struct places *p = calloc(1, sizeof(*p));
	int err = p ? functions__open(plan->file, &p->functions) : -ENOMEM;

	if (err)
		return err;
	p->path = strdup(plan->path);
	if (!p->path || copy_queries(p, plan) || copy_guards(p, plan) || copy_keys(p, plan))
		return diag_error_r(-ENOMEM, "out of memory");
	*out = take_ptr(p);
	return 0;
}

/* The query whose function begins at `addr`; NULL if no query has it, or several share it. */
static const char *query_at(const struct places *p, uint64_t addr)
{
	size_t i = bisect(p->n_entries, k, p->entries[k].addr < addr);
	uint32_t query;

	if (i == p->n_entries || p->entries[i].addr != addr)
		return NULL;
	query = p->entries[i].query;
	for (; i < p->n_entries && p->entries[i].addr == addr; i++)
		if (p->entries[i].query != query)
			return NULL;
	return p->queries[query];
}

static const char *query_named(const struct places *p, const struct name_info *info)
{
	for (uint32_t i = 0; i < p->n_queries; i++)
		if (strlen(p->queries[i]) == info->query_len &&
		    !memcmp(p->queries[i], info->query, info->query_len))
			return p->queries[i];
	return NULL;
}

static enum place_kind kind_of(enum name_kind kind)
{
	switch (kind) {
	case NAME_WRAPPER_NON_INCR:
	case NAME_WRAPPER_INCR:
		return PLACE_WRAPPER;
	case NAME_PROVIDER:
		return PLACE_PROVIDER;
	case NAME_BODY_NON_INCR:
	case NAME_BODY_INCR:
	case NAME_BODY_UNKNOWN:
		return PLACE_BODY;
	default:
		return PLACE_OTHER;
	}
}

/*
 * Find the query by the address of the function's entry. Several symbols may share it, if they
 * belong to one query. A split-off part of a function is known only by its name.
 */
void places__find(const struct places *p, uint64_t addr, struct place *out)
{
	struct function_range range;
	struct name_info info;

	*out = (struct place){0};
	if (!functions__find(p->functions, addr, &range))
		return;
	out->symbol = range.symbol;
	name_classify(range.symbol, &info);
	out->kind = kind_of(info.kind);
	if (out->kind == PLACE_OTHER)
		return;
	out->query = query_at(p, range.addr);
	if (!out->query && info.part != NAME_PART_ENTRY && info.query)
		out->query = query_named(p, &info);
}

const struct plan_held_key *places__held_key(const struct places *p, uint64_t addr)
{
	size_t i = bisect(p->n_held_keys, k, p->held_keys[k].addr < addr);

	return i < p->n_held_keys && p->held_keys[i].addr == addr ? &p->held_keys[i] : NULL;
}

const struct wire_memory_key *places__memory_key(const struct places *p,
						 const struct plan_held_key *held)
{
	return &p->memory[held->query];
}

const struct plan_layout *places__layout(const struct places *p)
{
	return &p->layout;
}

const char *places__path(const struct places *p)
{
	return p->path;
}

const char *places__query(const struct places *p, uint32_t query)
{
	return query < p->n_queries ? p->queries[query] : NULL;
}

const char *places__guard(const struct places *p, uint32_t guard)
{
	return guard < p->n_guards ? p->guards[guard] : NULL;
}

void places__free(struct places *p)
{
	if (!p)
		return;
	functions__free(p->functions);
	for (uint32_t i = 0; i < p->n_queries; i++)
		free(p->queries[i]);
	for (uint32_t i = 0; i < p->n_guards && p->guards; i++)
		free(p->guards[i]);
	free(p->queries);
	free(p->guards);
	free(p->entries);
	free(p->held_keys);
	free(p->memory);
	free(p->path);
	free(p);
}
