// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/totals.h"

#include "analyze/cost.h"
#include "view/view.h"

int totals__print(struct model *m, const struct trace_losses *losses, struct totals_layout layout,
		  FILE *to)
{
	const struct cost cost = cost_of(m, summary__n_processes(m->summary));
	const struct report_options report = {
		.top = layout.rows,
		.width = layout.columns,
		.costs = m->has_costs ? &m->costs : NULL,
		.cost = &cost,
		.totals_only = true,
	};

	return model__end(m) ?: report_text(to, m->summary, losses, &m->options.texts, &report);
}
