// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel_budget.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "capture/attach_set.h"
#include "capture/links.h"

/* ---- The probes, as struct probe_control has them -------------------------------------------- */

static int attach(void *k, uint8_t lib, const bool *starts, const bool *ends, const bool *groups)
{
	return links__attach(kernel__links(k, lib), starts, ends, groups);
}

static int set_starts(void *k, uint8_t lib, uint32_t query, bool attached)
{
	return links__set_starts(kernel__links(k, lib), query, attached);
}

static int set_ends(void *k, uint8_t lib, uint32_t set, bool attached)
{
	return links__set_ends(kernel__links(k, lib), set, attached);
}

static int add_group(void *k, uint8_t lib, uint32_t group)
{
	return links__add_group(kernel__links(k, lib), group);
}

static bool has_starts(void *k, uint8_t lib, uint32_t query)
{
	return links__has_starts(kernel__links(k, lib), query);
}

static uint32_t sites(void *k, uint8_t lib)
{
	return kernel__sites(k, lib);
}

static uint64_t hits(void *k)
{
	return kernel__hits(k);
}

static void count_only(void *k, uint8_t lib, uint32_t query, bool counted)
{
	kernel__count_only(k, lib, query, counted);
}

static void lapse(void *k, uint8_t lib, uint32_t query)
{
	kernel__lapse(k, lib, query);
}

int kernel_budget__new(struct kernel *k, uint64_t budget_ppm, const struct budget_sink *sink,
		       struct budget **out)
{
	const struct probe_control probes = {
		.ctx = k,
		.attach = attach,
		.set_starts = set_starts,
		.set_ends = set_ends,
		.add_group = add_group,
		.has_starts = has_starts,
		.sites = sites,
		.hits = hits,
		.count_only = count_only,
		.lapse = lapse,
	};

	return budget__new(&probes, budget_ppm, sink, out);
}

/* ---- The filter ------------------------------------------------------------------------------ */

/*
 * The probes of a query that the filter leaves out are needed all the same, as this query may be
 * the caller of the others.
 */
int kernel_budget__add_library(struct budget *b, uint8_t lib, const struct plan *plan,
			       const struct filter *filter)
{
	_free_ bool *queries = calloc(plan->n_queries + 1ul, sizeof(*queries));
	_attach_set_ struct attach_set set = {0};
	int err = queries ? attach_set__init(&set, plan, filter, lib, false) : -ENOMEM;

	if (err)
		return diag_error_r(err, "cannot attach to %s: %s", plan->path, strerror(-err));
	for (uint32_t i = 0; i < plan->n_queries; i++)
		queries[i] = filter__passes(filter, FILTER_QUERY, plan->queries[i].name);
	return budget__add_library(b, &(struct budget_library){lib, plan, queries, set.guards});
}
