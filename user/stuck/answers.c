// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/mine/active_jobs.h"

#define LABEL_PREFIX (WIRE_LABEL_MAX + 1)

struct answers_label {
	uint32_t label;
	char text[LABEL_PREFIX];
};

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

int answers__take(void *answers, const struct record *r)
{
	struct answers *a = answers;

	if (!a)
		return 0;
	switch (r->kind) {
	case RECORD_LIBRARY:
		/* The number may be reused from a library that is detached. */
		compiler__free(take_ptr(a->compilers[r->lib]));
		return compiler__new(r->library.plan, r->library.queries, r->library.guards,
				     &a->compilers[r->lib]);
	case WIRE_LABEL:
		return on_label(a, r->label);
	case WIRE_OPEN_FRAME:
		return array__add(&a->frames, &a->n_frames, &a->frames_capacity, r->open_frame);
	case WIRE_OPEN_STACK:
		a->stack = *r->open_stack;
		a->has_stack = true;
		return 0;
	default:
		return 0;
	}
}

void answers__expect(struct answers *a)
{
	a->n_frames = 0;
	a->has_stack = false;
}

const char *answers__name(const struct answers *a, const struct wire_open_frame *f)
{
	const struct compiler *c = a->compilers[f->lib];

	if (f->kind == WIRE_KIND_ACTIVITY && f->label) {
		for (uint32_t i = 0; i < a->n_labels; i++)
			if (a->labels[i]->label == f->label)
				return a->labels[i]->text;
		return NULL;
	}
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

int compiler__new(const struct plan *plan, const bool *queries, const bool *guards,
		  struct compiler **out)
{
	_compiler_ struct compiler *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->recorded_queries = calloc(plan->n_queries + 1UL, sizeof(bool));
	c->recorded_guards = calloc(plan->n_guards + 1UL, sizeof(bool));
	c->jobs = calloc(1, sizeof(*c->jobs));
	if (!c->recorded_queries || !c->recorded_guards || !c->jobs ||
	    plan_frames__new(plan, &c->frames))
		return -ENOMEM;
	memcpy(c->recorded_queries, queries, plan->n_queries * sizeof(bool));
	memcpy(c->recorded_guards, guards, plan->n_guards * sizeof(bool));
	if (!active_jobs__tables(plan, c->jobs))
		free(take_ptr(c->jobs));
	c->plan = plan__ref(plan);
	*out = take_ptr(c);
	return 0;
}

bool compiler__is(const struct compiler *c, const struct library_file *file)
{
	return library_identity_is_one(library_file__identity(c->plan->file),
				       library_file__identity(file));
}

const char *compiler__query(const struct compiler *c, uint32_t query)
{
	return query < c->plan->n_queries ? c->plan->queries[query].name : NULL;
}

const char *compiler__guard(const struct compiler *c, uint32_t guard)
{
	return guard < c->plan->n_guards ? c->plan->guards[guard].label : NULL;
}

bool compiler__begun(const struct compiler *c, uint8_t kind, uint32_t query, uint32_t guard,
		     struct wire_begun *out)
{
	const struct plan *plan = c->plan;

	*out = (struct wire_begun){.group = WIRE_NO_GROUP, .kind = kind};
	out->query = (uint16_t)(kind == WIRE_KIND_ACTIVITY ? guard : query);
	if (kind == WIRE_KIND_QUERY && query < plan->n_queries && c->recorded_queries[query]) {
		const struct plan_query *q = &plan->queries[query];
		uint32_t body = q->body_incr == PLAN_NONE ? q->body_non_incr : q->body_incr;

		if (body != PLAN_NONE)
			out->group = (uint16_t)plan->bodies[body].group;
	}
	if (kind != WIRE_KIND_QUERY && guard < plan->n_guards && c->recorded_guards[guard]) {
		out->group = (uint16_t)plan->guards[guard].scope;
		out->number = plan->guards[guard].number;
	}
	if (out->group == WIRE_NO_GROUP)
		return false;
	/* Without its query, the interval has no label. */
	return kind == WIRE_KIND_ACTIVITY ? plan->guards[guard].label != NULL
					  : query < plan->n_queries;
}

void compiler__free(struct compiler *c)
{
	if (!c)
		return;
	plan__free(c->plan);
	plan_frames__free(c->frames);
	free(c->jobs);
	free(c->recorded_queries);
	free(c->recorded_guards);
	free(c);
}
