// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/html_report.h"

#include <errno.h>

#include "analyze/cost.h"
#include "analyze/model.h"
#include "view/build.h"
#include "view/view.h"

/* Rows of LLVM's tables: a build has ten thousands of functions, most of them met once. */
#define LLVM_MOST 2000

struct html_report {
	const struct trace_reader *r;
	struct model model;
	bool chosen;
	const struct build *whole; /* of which they were chosen; NULL: not known */
};

int html_report__new(struct export_job *job, struct html_report **out)
{
	_html_report_ struct html_report *h = calloc(1, sizeof(*h));
	struct model_options options = model_options_of(job->r);

	options.parts = MODEL_GROUPS | MODEL_ITEMS | MODEL_BUILD | MODEL_LLVM;
	options.raw = job->raw;
	options.stack_causes = 1u << TRACE_SAMPLE_CPU;
	if (!h || model__init(&h->model, &options))
		return -ENOMEM;
	h->r = job->r;
	h->chosen = job->chosen;
	h->whole = job->whole;
	*out = take_ptr(h);
	return 0;
}

int html_report__item(struct html_report *h, const struct trace_item *item)
{
	return model__item(&h->model, item);
}

/* Without items: the page has those of all crates. */
static struct build_view build_of(const struct model *m, const struct report_options *opt)
{
	const struct stack_sums *stacks = &m->stacks[TRACE_SAMPLE_CPU];

	return (struct build_view){
		.build = m->build,
		.summary = m->summary,
		.losses = m->has_losses ? &m->losses : NULL,
		.names = &m->options.texts,
		.costs = opt->costs,
		.raw = opt->raw,
		.problem = opt->problem,
		.samples = opt->samples,
		.stacks = stacks->all.n ? stacks : NULL,
	};
}

int html_report__print(struct html_report *h, FILE *to)
{
	struct model *m = &h->model;
	struct report_options opt = {
		.problem = trace_reader__problem(h->r),
		.groups = m->groups,
		.by = GROUP_BY_CRATE,
		.items = items__any(m->items) ? m->items : NULL,
		.costs = m->has_costs ? &m->costs : NULL,
		.raw = m->options.raw,
		.samples = m->samples,
		.llvm = m->llvm,
		.llvm_most = LLVM_MOST,
	};
	struct build_view build;
	struct cost cost;
	int err = model__end(m);

	if (!err && h->chosen)
		err = build__set_whole(m->build, h->whole);
	cost = cost_of(m, trace_reader__stats(h->r).processes);
	if (!cost.is_part)
		opt.cost = &cost;
	build = build_of(m, &opt);
	build.cost = &cost;
	opt.build = &build;
	return err
		       ?: report_json(to, m->summary, m->has_losses ? &m->losses : NULL,
				      &m->options.texts, &opt);
}

void html_report__free(struct html_report *h)
{
	if (!h)
		return;
	model__destroy(&h->model);
	free(h);
}
