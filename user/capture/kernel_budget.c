// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel_budget.h"

#include <errno.h>
#include <string.h>

#include "capture/attach_set.h"

static struct budget_library library_of(const struct kernel_probes *p, const struct plan *plan)
{
	return (struct budget_library){plan, p->sites, p->queries, p->guards};
}

/*
 * Probes of a query that the filter leaves out are wanted all the same, as this query may be the
 * caller of others; but they are worth nothing themselves.
 */
int kernel_probes__choose(struct kernel_probes *p, struct budget *b, const struct plan *plan,
			  const struct filter *filter, bool callers)
{
	_attach_set_ struct attach_set set = {0};
	struct budget_library l;
	int err = attach_set__init(&set, plan, filter, 0, callers);

	if (err)
		return err;
	p->sites = calloc(plan->n_sites + 1UL, sizeof(*p->sites));
	p->queries = calloc(plan->n_queries + 1UL, sizeof(*p->queries));
	p->guards = calloc(plan->n_guards + 1UL, sizeof(*p->guards));
	if (!p->sites || !p->queries || !p->guards)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		p->sites[i] = attach_set__wants(&set, &plan->sites[i]);
	for (uint32_t i = 0; i < plan->n_queries; i++)
		p->queries[i] = filter__passes(filter, FILTER_QUERY, plan->queries[i].name);
	memcpy(p->guards, set.guards, plan->n_guards * sizeof(*p->guards));
	l = library_of(p, plan);
	return budget__choose(b, &l, &p->chosen);
}

bool kernel_probes__leave_out(const struct kernel_probes *p, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (p->sites[i] && !p->chosen->sites[i])
			return true;
	return false;
}

int kernel_probes__attached(const struct kernel_probes *p, struct budget *b, uint8_t lib,
			    const struct plan *plan)
{
	const struct budget_library l = library_of(p, plan);

	return budget__add_library(b, lib, &l, p->chosen);
}

void kernel_probes__keep_chosen(struct kernel_probes *p, const struct plan *plan)
{
	const struct chosen *c = p->chosen;

	for (uint32_t i = 0; i < plan->n_queries; i++)
		p->queries[i] = p->queries[i] && c->queries[i];
	for (uint32_t i = 0; i < plan->n_guards; i++)
		p->guards[i] = p->guards[i] && c->groups[c->group_of[i]];
}

void kernel_probes__clear(struct kernel_probes *p)
{
	chosen__free(p->chosen);
	free(p->sites);
	free(p->queries);
	free(p->guards);
	*p = (struct kernel_probes){};
}
