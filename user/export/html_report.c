// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/html_report.h"

#include <errno.h>
#include <string.h>

#include "trace/self_time.h"
#include "view/view.h"

struct html_report {
	struct export_job *job;
	struct summary *summary;
	struct groups *groups;
	struct self_time *self_time;
	struct decisions decisions;
	struct trace_losses losses;
	struct trace_costs costs;
	bool has_losses;
	bool has_costs;
};

int html_report__new(struct export_job *job, struct html_report **out)
{
	_html_report_ struct html_report *h = calloc(1, sizeof(*h));

	if (!h || summary__new(&h->summary) || groups__new(&h->groups) ||
	    self_time__new(&h->self_time))
		return -ENOMEM;
	h->job = job;
	summary__borrow_texts(h->summary);
	*out = take_ptr(h);
	return 0;
}

static int take_span(struct html_report *h, const struct trace_span *span)
{
	struct trace_span s = *span;
	struct trace_off off;
	const char *label;
	int err = self_time__span(h->self_time, &s, &off) ?: summary__span(h->summary, &s, &off);

	if (err)
		return err;
	if (s.kind != TRACE_KIND_OFF_CPU)
		return groups__span(h->groups, &s, &off);
	label = trace_reader__string(h->job->r, s.label);
	return groups__off_cpu(h->groups, &s, !strcmp(label, TRACE_OFF_PREEMPTED));
}

static void take_costs(struct html_report *h, const struct trace_costs *costs)
{
	h->costs = *costs;
	h->has_costs = true;
	if (h->job->raw)
		return;
	summary__set_costs(h->summary, costs);
	self_time__set_costs(h->self_time, costs);
}

int html_report__item(struct html_report *h, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return take_span(h, &item->span);
	case TRACE_ITEM_PROCESS:
		return summary__process(h->summary, item->process)
			       ?: groups__process(h->groups, item->process);
	case TRACE_ITEM_THREAD:
		return groups__thread(h->groups, &item->thread);
	case TRACE_ITEM_TALLY:
		return summary__tally(h->summary, &item->tally)
			       ?: groups__tally(h->groups, &item->tally);
	case TRACE_ITEM_DECISION:
		return decisions__add(&h->decisions, &item->decision);
	case TRACE_ITEM_LOSSES:
		h->losses = item->losses;
		h->has_losses = true;
		return 0;
	case TRACE_ITEM_COSTS:
		take_costs(h, &item->costs);
		return 0;
	default:
		return 0;
	}
}

static const char *text_of(const void *ctx, uint32_t id)
{
	return trace_reader__string(ctx, id);
}

static const char *kind_of(const void *ctx, unsigned int kind)
{
	return trace_reader__kind(ctx, kind);
}

int html_report__print(struct html_report *h, FILE *to)
{
	const struct view_names names = {.ctx = h->job->r, .text = text_of, .kind = kind_of};
	struct report_options opt = {
		.problem = trace_reader__problem(h->job->r),
		.groups = h->groups,
		.by = GROUP_BY_CRATE,
		.costs = h->has_costs ? &h->costs : NULL,
		.raw = h->job->raw,
	};

	decisions__end(&h->decisions, summary__end_ns(h->summary));
	summary__loads_watched(h->summary, decisions__watched_from(&h->decisions, TRACE_KIND_LOAD));
	if (h->decisions.n)
		opt.decisions = &h->decisions;
	return report_json(to, h->summary, h->has_losses ? &h->losses : NULL, &names, &opt);
}

void html_report__free(struct html_report *h)
{
	if (!h)
		return;
	summary__free(h->summary);
	groups__free(h->groups);
	self_time__free(h->self_time);
	decisions__destroy(&h->decisions);
	free(h);
}
