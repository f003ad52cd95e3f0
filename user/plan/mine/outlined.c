// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/outlined.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/mine/owners.h"
#include "plan/mine/profiler.h"

static bool has_queries(const struct plan_body *b)
{
	return b->n_queries && !b->outlined;
}

/* The body without queries that the decoded function calls, or PLAN_NONE. */
static uint32_t called_by(const struct plan *plan, const struct code *code)
{
	for (size_t i = 0; i < code->n; i++) {
		uint64_t to = profiler__callee(&code->insns[i]);
		uint32_t body = to ? plan__body_at(plan, to) : PLAN_NONE;

		if (body != PLAN_NONE && !plan->bodies[body].n_queries)
			return body;
	}
	return PLAN_NONE;
}

static int look_into(struct code_decoder *decoder, const struct owner *f, struct code *code,
		     struct plan *plan)
{
	uint32_t body = plan__body_at(plan, f->entry), called;
	int err = body == PLAN_NONE || !has_queries(&plan->bodies[body])
			  ? -EFAULT
			  : code_decoder__decode(decoder, f->regions, f->n_regions, code);

	if (err)
		return err == -EFAULT ? 0 : err;
	called = called_by(plan, code);
	if (called == PLAN_NONE)
		return 0;
	plan->bodies[body].outlined = called + 1;
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

int outlined_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan)
{
	_owners_ struct owners owners = {0};
	_free_ uint64_t *addrs = calloc(plan->n_bodies + 1UL, sizeof(*addrs));
	struct code code = {0};
	size_t n = 0;
	int err = addrs ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		if (plan->bodies[i].n_queries)
			addrs[n++] = plan->bodies[i].addr;
	if (err || n == plan->n_bodies)
		return err;
	err = owners__find(img, addrs, n, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		err = look_into(decoder, &owners.items[i], &code, plan);
	code__free(&code);
	if (!err)
		count_queries(plan);
	return err;
}
