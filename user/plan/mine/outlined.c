// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/outlined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/mine/callers.h"
#include "plan/mine/profiler.h"

struct search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	struct plan *plan;
	struct mined_body *mined;
	bool *several;	      /* by body: it calls several bodies without queries */
	bool *foreign;	      /* by body: it executes for others than bodies that call it only */
	uint64_t *candidates; /* bodies without queries */
	size_t n_candidates;
};

/* A body, PLAN_NONE for another function, calls one without queries. */
typedef void (*note_fn)(struct search *s, uint32_t body, uint32_t called);

static bool has_queries(const struct plan *plan, uint32_t body)
{
	return body != PLAN_NONE && plan->bodies[body].n_queries;
}

static int look_into(struct search *s, const struct owner *f, note_fn note)
{
	uint32_t body = plan__body_at(s->plan, f->entry);
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	for (size_t i = 0; i < s->code.n && !err; i++) {
		uint64_t to = profiler__callee(&s->code.insns[i]);
		uint32_t called = to ? plan__body_at(s->plan, to) : PLAN_NONE;

		if (called != PLAN_NONE && called != body && !has_queries(s->plan, called))
			note(s, body, called);
	}
	return err == -EFAULT ? 0 : err;
}

static void note_called(struct search *s, uint32_t body, uint32_t called)
{
	uint32_t *outlined = &s->plan->bodies[body].outlined;

	if (*outlined && *outlined != called + 1)
		s->several[body] = true;
	*outlined = called + 1;
}

static int find_called(struct search *s)
{
	_owners_ struct owners owners = {0};
	_free_ uint64_t *addrs = calloc(s->plan->n_bodies + 1UL, sizeof(*addrs));
	size_t n = 0;
	int err;

	if (!addrs)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->plan->n_bodies; i++)
		if (has_queries(s->plan, i))
			addrs[n++] = s->plan->bodies[i].addr;
	err = owners__find(s->img, addrs, n, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		if (has_queries(s->plan, plan__body_at(s->plan, owners.items[i].entry)))
			err = look_into(s, &owners.items[i], note_called);
	return err;
}

static void note_foreign(struct search *s, uint32_t body, uint32_t called)
{
	(void)body;
	s->foreign[called] = true;
}

static int find_foreign(struct search *s)
{
	_owners_ struct owners owners = {0};
	int err = callers__find(s->img, s->candidates, s->n_candidates, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(s->plan, owners.items[i].entry);

		if (!has_queries(s->plan, body) || s->several[body])
			err = look_into(s, &owners.items[i], note_foreign);
	}
	return err;
}

/* Executions of the body's queries are missed. */
static int give_up(struct search *s, uint32_t body, const char *problem)
{
	struct plan_body *b = &s->plan->bodies[body];

	b->outlined = 0;
	s->mined[body].masks_exact = false;
	if (s->mined[body].problem)
		return 0;
	s->mined[body].problem = problem;
	b->problem = strdup(problem);
	return b->problem ? 0 : -ENOMEM;
}

static int judge(struct search *s, uint32_t body)
{
	struct plan *plan = s->plan;
	uint32_t called = plan__outlined(plan, body);

	if (called == PLAN_NONE)
		return 0;
	if (s->several[body])
		return give_up(s, body, "it calls several functions that execute queries");
	/* With a number, such a function itself shows which query it executes. */
	if (s->foreign[called] && !plan__has_numbers(plan, body))
		return give_up(s, body,
			       "it calls a function that executes queries for others, too");
	plan->bodies[called].incremental = plan->bodies[body].incremental;
	return 0;
}

static void count_queries(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];
		uint32_t first = plan__outlined(plan, q->body_non_incr);
		uint32_t second = plan__outlined(plan, q->body_incr);

		if (first != PLAN_NONE)
			plan->bodies[first].n_queries++;
		if (second != PLAN_NONE && second != first)
			plan->bodies[second].n_queries++;
	}
}

static int find(struct search *s)
{
	struct plan *plan = s->plan;
	int err;

	if (!plan->n_bodies)
		return 0;
	s->several = calloc(plan->n_bodies, sizeof(*s->several));
	s->foreign = calloc(plan->n_bodies, sizeof(*s->foreign));
	s->candidates = calloc(plan->n_bodies, sizeof(*s->candidates));
	if (!s->several || !s->foreign || !s->candidates)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (!has_queries(plan, i))
			s->candidates[s->n_candidates++] = plan->bodies[i].addr;
	if (!s->n_candidates)
		return 0;
	err = find_called(s) ?: find_foreign(s);
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		err = judge(s, i);
	if (!err)
		count_queries(plan);
	return err;
}

int outlined_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan,
		  struct mined_body *mined)
{
	struct search s = {.img = img, .decoder = decoder, .plan = plan, .mined = mined};
	int err = find(&s);

	code__free(&s.code);
	free(s.candidates);
	free(s.several);
	free(s.foreign);
	return err;
}
