// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

#define LABEL_PREFIX (WIRE_LABEL_MAX + 1)

struct answers_label {
	uint32_t label;
	char text[LABEL_PREFIX];
};

int answers__library(struct answers *a, uint8_t lib, const struct plan *plan)
{
	/* The number may be reused from a library that is detached. */
	compiler__free(take_ptr(a->compilers[lib]));
	return compiler__new(plan, &a->compilers[lib]);
}

void answers__recorded(struct answers *a, uint8_t lib, const bool *queries, const bool *guards)
{
	if (a && a->compilers[lib])
		compiler__set_recorded(a->compilers[lib], queries, guards);
}

static int on_label(struct answers *a, const struct wire_label *r)
{
	_free_ struct answers_label *label = calloc(1, sizeof(*label));

	if (!label ||
	    array__reserve_one(&a->labels, a->n_labels, &a->labels_capacity, sizeof(*a->labels)))
		return -ENOMEM;
	label->label = r->label;
	memcpy(label->text, r->key.text, WIRE_LABEL_MAX);
	a->labels[a->n_labels++] = take_ptr(label);
	return 0;
}

int answers__record(struct answers *a, const void *record, size_t size)
{
	uint8_t type = size ? *(const uint8_t *)record : 0;

	if (type == WIRE_LABEL && size == sizeof(struct wire_label))
		return on_label(a, record);
	if (type == WIRE_OPEN_FRAME && size == sizeof(struct wire_open_frame))
		return array__add_bytes(&a->frames, &a->n_frames, &a->frames_capacity, record,
					size);
	if (type == WIRE_OPEN_STACK && size == sizeof(a->stack)) {
		memcpy(&a->stack, record, size);
		a->has_stack = true;
	}
	return 0;
}

void answers__expect(struct answers *a)
{
	a->n_frames = 0;
	a->has_stack = false;
}

static const char *label_text(const struct answers *a, uint32_t label)
{
	for (uint32_t i = 0; i < a->n_labels; i++)
		if (a->labels[i]->label == label)
			return a->labels[i]->text;
	return NULL;
}

const char *answers__name(const struct answers *a, const struct wire_open_frame *f)
{
	const struct compiler *c = a->compilers[f->lib];

	if (f->kind == WIRE_KIND_ACTIVITY && f->label)
		return label_text(a, f->label);
	if (!c)
		return NULL;
	return f->kind == WIRE_KIND_ACTIVITY ? compiler__guard(c, f->query)
					     : compiler__query(c, f->query);
}

int answers__compiler(const struct answers *a, const struct library_file *library)
{
	for (int i = 0; library && i <= WIRE_MAX_LIBS; i++)
		if (a->compilers[i] && compiler__is(a->compilers[i], library))
			return i;
	return -ENOENT;
}

void answers__clear(struct answers *a)
{
	for (int i = 0; i <= WIRE_MAX_LIBS; i++)
		compiler__free(a->compilers[i]);
	for (uint32_t i = 0; i < a->n_labels; i++)
		free(a->labels[i]);
	free(a->labels);
	free(a->frames);
	*a = (struct answers){0};
}

/* ---- A compiler ------------------------------------------------------------------------------ */

/* As sites have it. */
struct place {
	uint16_t group, number;
	bool recorded;
};

struct compiler {
	struct library_file *file;
	struct plan_frames *frames;
	char **queries;
	uint32_t n_queries;
	char **guards;
	uint32_t n_guards;
	struct place *query_places, *guard_places;
	struct plan_held_key *held_keys; /* sorted by address */
	size_t n_held_keys;
	struct wire_memory_key *memory; /* by query */
	struct plan_layout layout;
};

static int copy_queries(struct compiler *c, const struct plan *plan)
{
	c->queries = calloc(plan->n_queries + 1UL, sizeof(*c->queries));
	c->memory = calloc(plan->n_queries + 1UL, sizeof(*c->memory));
	if (!c->queries || !c->memory)
		return -ENOMEM;
	for (; c->n_queries < plan->n_queries; c->n_queries++) {
		const struct plan_query *q = &plan->queries[c->n_queries];

		c->memory[c->n_queries] = q->memory;
		c->queries[c->n_queries] = strdup(q->name);
		if (!c->queries[c->n_queries])
			return -ENOMEM;
	}
	return 0;
}

static int copy_guards(struct compiler *c, const struct plan *plan)
{
	c->guards = calloc(plan->n_guards + 1UL, sizeof(*c->guards));
	if (!c->guards)
		return -ENOMEM;
	c->n_guards = plan->n_guards;
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		c->guards[i] = plan->guards[i].label ? strdup(plan->guards[i].label) : NULL;
		if (plan->guards[i].label && !c->guards[i])
			return -ENOMEM;
	}
	return 0;
}

static uint16_t group_of(const struct plan *plan, const struct plan_query *q)
{
	uint32_t body = q->body_incr == PLAN_NONE ? q->body_non_incr : q->body_incr;

	return body == PLAN_NONE ? WIRE_NO_GROUP : (uint16_t)plan->bodies[body].group;
}

static int copy_places(struct compiler *c, const struct plan *plan)
{
	c->query_places = calloc(plan->n_queries + 1UL, sizeof(*c->query_places));
	c->guard_places = calloc(plan->n_guards + 1UL, sizeof(*c->guard_places));
	if (!c->query_places || !c->guard_places)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries; i++)
		c->query_places[i].group = group_of(plan, &plan->queries[i]);
	for (uint32_t i = 0; i < plan->n_guards; i++)
		c->guard_places[i] = (struct place){
			.group = (uint16_t)plan->guards[i].scope,
			.number = plan->guards[i].number,
		};
	return 0;
}

static int copy_keys(struct compiler *c, const struct plan *plan)
{
	c->held_keys = calloc(plan->n_held_keys + 1UL, sizeof(*c->held_keys));
	if (!c->held_keys)
		return -ENOMEM;
	c->n_held_keys = plan->n_held_keys;
	if (c->n_held_keys)
		memcpy(c->held_keys, plan->held_keys, c->n_held_keys * sizeof(*c->held_keys));
	c->layout = plan->layout;
	c->layout.problem = c->layout.crates_problem = c->layout.current_problem = NULL;
	return 0;
}

int compiler__new(const struct plan *plan, struct compiler **out)
{
	_compiler_ struct compiler *c = calloc(1, sizeof(*c));

	if (!c || copy_queries(c, plan) || copy_guards(c, plan) || copy_places(c, plan) ||
	    copy_keys(c, plan) || plan_frames__new(plan, &c->frames))
		return -ENOMEM;
	c->file = library_file__ref(plan->file);
	*out = take_ptr(c);
	return 0;
}

bool compiler__is(const struct compiler *c, const struct library_file *file)
{
	return library_identity_is_one(library_file__identity(c->file),
				       library_file__identity(file));
}

const struct plan_frames *compiler__frames(const struct compiler *c)
{
	return c->frames;
}

const struct plan_held_key *compiler__held_key(const struct compiler *c, uint64_t addr)
{
	size_t i = bisect(c->n_held_keys, k, c->held_keys[k].addr < addr);

	return i < c->n_held_keys && c->held_keys[i].addr == addr ? &c->held_keys[i] : NULL;
}

const struct wire_memory_key *compiler__memory_key(const struct compiler *c,
						   const struct plan_held_key *held)
{
	return &c->memory[held->query];
}

const struct plan_layout *compiler__layout(const struct compiler *c)
{
	return &c->layout;
}

const char *compiler__query(const struct compiler *c, uint32_t query)
{
	return query < c->n_queries ? c->queries[query] : NULL;
}

const char *compiler__guard(const struct compiler *c, uint32_t guard)
{
	return guard < c->n_guards ? c->guards[guard] : NULL;
}

void compiler__set_recorded(struct compiler *c, const bool *queries, const bool *guards)
{
	for (uint32_t i = 0; i < c->n_queries; i++)
		c->query_places[i].recorded = queries[i];
	for (uint32_t i = 0; i < c->n_guards; i++)
		c->guard_places[i].recorded = guards[i];
}

bool compiler__begun(const struct compiler *c, uint8_t kind, uint32_t query, uint32_t guard,
		     struct wire_begun *out)
{
	const struct place *place = NULL;

	if (kind == WIRE_KIND_QUERY && query < c->n_queries)
		place = &c->query_places[query];
	else if (kind != WIRE_KIND_QUERY && guard < c->n_guards)
		place = &c->guard_places[guard];
	if (!place || !place->recorded || place->group == WIRE_NO_GROUP)
		return false;
	*out = (struct wire_begun){
		.query = (uint16_t)(kind == WIRE_KIND_ACTIVITY ? guard : query),
		.group = place->group,
		.number = place->number,
		.kind = kind,
	};
	/* Without its query, the interval has no label. */
	return kind == WIRE_KIND_ACTIVITY ? c->guards[guard] != NULL : query < c->n_queries;
}

void compiler__free(struct compiler *c)
{
	if (!c)
		return;
	library_file__free(c->file);
	plan_frames__free(c->frames);
	for (uint32_t i = 0; i < c->n_queries && c->queries; i++)
		free(c->queries[i]);
	for (uint32_t i = 0; i < c->n_guards && c->guards; i++)
		free(c->guards[i]);
	free(c->queries);
	free(c->guards);
	free(c->query_places);
	free(c->guard_places);
	free(c->held_keys);
	free(c->memory);
	free(c);
}
