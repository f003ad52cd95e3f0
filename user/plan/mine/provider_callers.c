// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/provider_callers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/mine/callers.h"
#include "plan/mine/profiler.h"

struct search {
	const struct plan *plan;
	struct code_decoder *decoder;
	struct code code;
	uint64_t *providers; /* by query */
	uint64_t *callers;   /* by query; 0: none yet */
	bool several;	     /* a provider has several, or one calls several */
};

static void note(struct search *s, uint64_t caller, uint64_t provider, uint64_t *called)
{
	for (uint32_t i = 0; i < s->plan->n_queries; i++) {
		if (s->providers[i] != provider)
			continue;
		s->several = s->several || (s->callers[i] && s->callers[i] != caller) ||
			     (*called && *called != provider);
		s->callers[i] = caller;
		*called = provider;
	}
}

/* Bytes that look like a call may be none, so the function is decoded. */
static int look_into(struct search *s, const struct owner *f)
{
	uint64_t called = 0;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	for (size_t i = 0; i < s->code.n && !err && !s->several; i++) {
		uint64_t to = profiler__callee(&s->code.insns[i]);

		if (to)
			note(s, f->entry, to, &called);
	}
	return err == -EFAULT ? 0 : err;
}

static int find(struct search *s, struct elf_image *img)
{
	_owners_ struct owners owners = {0};
	int err;

	for (uint32_t i = 0; i < s->plan->n_queries; i++) {
		s->providers[i] = s->plan->queries[i].provider;
		if (!s->providers[i])
			return 0;
	}
	err = callers__find(img, s->providers, s->plan->n_queries, &owners);
	for (size_t i = 0; i < owners.n && !err && !s->several; i++)
		if (!array__has_u64(s->providers, s->plan->n_queries, owners.items[i].entry))
			err = look_into(s, &owners.items[i]);
	return err;
}

static bool all_have_one(const struct search *s)
{
	for (uint32_t i = 0; i < s->plan->n_queries; i++)
		if (!s->providers[i] || !s->callers[i])
			return false;
	return !s->several;
}

int provider_callers_find(struct elf_image *img, struct code_decoder *decoder, struct plan *plan)
{
	_free_ uint64_t *addrs = calloc(plan->n_queries + 1UL, 2 * sizeof(*addrs));
	struct search s = {.plan = plan, .decoder = decoder, .providers = addrs};
	int err = addrs ? 0 : -ENOMEM;

	if (!err) {
		s.callers = addrs + plan->n_queries;
		err = find(&s, img);
	}
	for (uint32_t i = 0; i < plan->n_queries && !err && all_have_one(&s); i++)
		plan->queries[i].provider_caller = s.callers[i];
	code__free(&s.code);
	return err;
}
