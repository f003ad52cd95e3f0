// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "analyze/decisions.h"
#include "analyze/build.h"
#include "analyze/callers.h"
#include "analyze/groups.h"
#include "analyze/summary.h"
#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "trace/reader.h"
#include "trace/self_time.h"
#include "view/build.h"
#include "view/screen.h"
#include "view/view.h"

/* What a trace says, summed. */
struct contents {
	const struct cli_report_options *options;
	struct summary *summary;
	struct groups *groups;	     /* NULL: the report is not by these */
	struct callers *callers;     /* NULL: nor by those */
	struct build *build;	     /* NULL: nothing of it is shown */
	struct build_texts texts;    /* for it */
	struct self_time *self_time; /* NULL: rows are queries, and the summary does it */
	uint64_t self_ns;	     /* of all */
	uint64_t self_probe_ns;
	struct decisions decisions;
	struct trace_losses losses;
	struct trace_costs costs;
	bool has_losses;
	bool has_costs;
};

static void contents__clear(struct contents *c)
{
	summary__free(c->summary);
	groups__free(c->groups);
	callers__free(c->callers);
	build__free(c->build);
	self_time__free(c->self_time);
	decisions__destroy(&c->decisions);
}

static const char *string_of(const void *ctx, uint32_t id)
{
	return trace_reader__string(ctx, id);
}

static bool asks_for_build(const struct cli_report_options *o)
{
	return o->by == CLI_BY_BUILD || o->markdown || o->full;
}

/* Nothing that was asked for is about other rows. */
static bool may_be_of_build(const struct cli_report_options *o)
{
	bool rows = o->queries.n || o->callers.n || o->min.ns || o->min.millipercent ||
		    o->sort != CLI_SORT_SELF;

	return asks_for_build(o) || (o->by == CLI_BY_FITTING && !rows);
}

static int contents__init(struct contents *c, const struct trace_reader *r)
{
	int err = summary__new(&c->summary);

	if (!err)
		summary__borrow_texts(c->summary);
	c->texts = (struct build_texts){r, string_of};
	if (!err && c->options->by > CLI_BY_QUERY)
		err = groups__new(&c->groups);
	else if (!err && c->options->callers.n)
		err = callers__new(&c->callers);
	else if (!err && (c->options->json || may_be_of_build(c->options)))
		err = build__new(&c->texts, &c->build);
	if (!err && (c->groups || c->callers))
		err = self_time__new(&c->self_time);
	return err;
}

static const struct cli_texts *asked_for(const struct contents *c)
{
	return c->callers ? &c->options->callers : &c->options->queries;
}

/* Of some queries it is told by their own times alone. */
static int take_off_cpu(struct contents *c, const struct trace_reader *r, struct trace_span *span)
{
	struct trace_off off;
	bool preempted = !strcmp(trace_reader__string(r, span->label), TRACE_OFF_PREEMPTED);
	int err =
		self_time__span(c->self_time, span, &off) ?: summary__span(c->summary, span, &off);

	if (err || !c->groups || asked_for(c)->n)
		return err;
	return groups__off_cpu(c->groups, span, preempted);
}

/* Self times need every span; what is counted is only what was asked for. */
static int take_span(struct contents *c, const struct trace_reader *r, struct trace_span *span)
{
	struct trace_off off;
	int err;

	if (c->build && (err = build__span(c->build, span)))
		return err;
	if (!c->self_time)
		return summary__span(c->summary, span, NULL);
	if (span->kind == TRACE_KIND_OFF_CPU)
		return take_off_cpu(c, r, span);
	err = self_time__span(c->self_time, span, &off) ?: summary__span(c->summary, span, &off);
	if (err)
		return err;
	c->self_ns += span->self_ns;
	c->self_probe_ns += span->self_probe_ns;
	if (asked_for(c)->n && !cmd_matches(asked_for(c), trace_reader__string(r, span->label)))
		return 0;
	if (c->groups)
		return groups__span(c->groups, span, &off);
	return span->kind == TRACE_KIND_QUERY ? callers__span(c->callers, span) : 0;
}

static int take_tally(struct contents *c, const struct trace_reader *r, const struct trace_tally *t)
{
	int err = summary__tally(c->summary, t);
	bool wanted = !c->options->queries.n ||
		      cmd_matches(&c->options->queries, trace_reader__string(r, t->label));

	if (!err && c->build)
		err = build__tally(c->build, t);
	return err || !c->groups || !wanted ? err : groups__tally(c->groups, t);
}

static void take_costs(struct contents *c, const struct trace_costs *costs)
{
	c->costs = *costs;
	c->has_costs = true;
	if (c->options->raw)
		return;
	summary__set_costs(c->summary, costs);
	if (c->self_time)
		self_time__set_costs(c->self_time, costs);
}

static int take_process(struct contents *c, const struct trace_process *p)
{
	int err = summary__process(c->summary, p);

	if (!err && c->groups)
		err = groups__process(c->groups, p);
	if (!err && c->build)
		err = build__process(c->build, p);
	return err;
}

static int take_thread(struct contents *c, const struct trace_thread *t)
{
	if (c->build)
		return build__thread(c->build, t);
	return c->groups ? groups__thread(c->groups, t) : 0;
}

static int take_item(struct contents *c, const struct trace_reader *r, struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return take_span(c, r, &item->span);
	case TRACE_ITEM_PROCESS:
		return take_process(c, item->process);
	case TRACE_ITEM_THREAD:
		return take_thread(c, &item->thread);
	case TRACE_ITEM_TALLY:
		return take_tally(c, r, &item->tally);
	case TRACE_ITEM_DECISION:
		return decisions__add(&c->decisions, &item->decision);
	case TRACE_ITEM_LOSSES:
		c->losses = item->losses;
		c->has_losses = true;
		return 0;
	case TRACE_ITEM_COSTS:
		take_costs(c, &item->costs);
		return 0;
	default:
		return 0;
	}
}

static int read_all(struct trace_reader *r, struct contents *c)
{
	struct trace_item item;
	int err = contents__init(c, r);

	c->decisions.ppm = trace_reader__info(r)->budget_ppm;
	while (!err) {
		err = trace_reader__next(r, &item);
		if (err || item.kind == TRACE_ITEM_END)
			break;
		err = take_item(c, r, &item);
	}
	if (!err)
		decisions__end(&c->decisions, summary__end_ns(c->summary));
	summary__loads_watched(c->summary, decisions__watched_from(&c->decisions, TRACE_KIND_LOAD));
	if (!err && c->build)
		err = build__end(c->build);
	return err;
}

static const char *kind_of(const void *ctx, unsigned int kind)
{
	return trace_reader__kind(ctx, kind);
}

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	return trace_reader__location(ctx, locindex, out);
}

static bool is_asked_for(const void *ctx, const char *name)
{
	return cmd_matches(ctx, name);
}

static struct report_options view_options(const struct contents *c, const struct trace_reader *r)
{
	static const enum group_by by[] = {
		[CLI_BY_CRATE] = GROUP_BY_CRATE,
		[CLI_BY_PROCESS] = GROUP_BY_PROCESS,
		[CLI_BY_THREAD] = GROUP_BY_THREAD,
	};
	static const enum report_sort sort[] = {
		[CLI_SORT_SELF] = REPORT_SORT_SELF,   [CLI_SORT_TOTAL] = REPORT_SORT_TOTAL,
		[CLI_SORT_COUNT] = REPORT_SORT_COUNT, [CLI_SORT_MAX] = REPORT_SORT_MAX,
		[CLI_SORT_NAME] = REPORT_SORT_NAME,   [CLI_SORT_OFF] = REPORT_SORT_OFF,
		[CLI_SORT_CPU] = REPORT_SORT_CPU,
	};
	const struct cli_report_options *o = c->options;

	return (struct report_options){
		.top = o->top,
		.width = o->wide ? 0 : screen_columns(stdout),
		.problem = trace_reader__problem(r),
		.sort = sort[o->sort],
		.min_self_ns = o->min.ns,
		.min_millipercent = o->min.millipercent,
		.query = is_asked_for,
		.query_ctx = asked_for(c),
		.groups = c->groups,
		.callers = c->callers,
		.locator = {r, locate},
		.by = by[o->by],
		.all_self_ns = c->self_ns > c->self_probe_ns ? c->self_ns - c->self_probe_ns : 0,
		.costs = c->has_costs ? &c->costs : NULL,
		.raw = o->raw,
		.decisions = c->decisions.ppm ? &c->decisions : NULL,
	};
}

/* A trace that was recorded with --callers may hold none that is known either: it looks the same.
 */
static int no_callers(const struct trace_reader *r, const char *file)
{
	const struct trace_stats s = trace_reader__stats(r);

	if (!s.spans || s.callers)
		return 0;
	return diag_error_r(-ENODATA,
			    "%s does not tell who asked for its queries; if it was recorded "
			    "without --callers, record it with them",
			    file);
}

/* Whether the text is of a build: asked for, or what there is to see. */
static bool shows_build(const struct contents *c)
{
	return asks_for_build(c->options) ||
	       (may_be_of_build(c->options) && build__totals(c->build)->compiles > 1);
}

static int print(const struct contents *c, const struct view_names *names,
		 struct report_options *opt)
{
	const struct trace_losses *losses = c->has_losses ? &c->losses : NULL;
	const struct build_view build = {
		.build = c->build,
		.summary = c->summary,
		.losses = losses,
		.names = names,
		.costs = opt->costs,
		.raw = opt->raw,
		.problem = opt->problem,
		.top = opt->top,
		.full = c->options->full,
		.wide = c->options->wide || c->options->full,
		.decisions = opt->decisions,
	};

	opt->build = c->build ? &build : NULL;
	if (c->options->json)
		return report_json(stdout, c->summary, losses, names, opt);
	if (!shows_build(c))
		return report_text(stdout, c->summary, losses, names, opt);
	return c->options->markdown ? build_markdown(stdout, &build) : build_text(stdout, &build);
}

/* Or a slip of the pen would look like a query that takes no time. */
static int tell_unmatched(const struct contents *c, const struct view_names *names)
{
	const struct cli_texts *globs = asked_for(c);
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err = summary__rows(c->summary, SUMMARY_ALL, &rows, &n);

	for (size_t i = 0; !err && i < globs->n; i++) {
		const struct cli_texts one = {&globs->texts[i], 1};
		bool found = false;

		for (size_t k = 0; k < n && !found; k++)
			found = cmd_matches(&one, names->text(names->ctx, rows[k].label));
		if (!found)
			diag_warn("nothing in %s is called %s", c->options->file, globs->texts[i]);
	}
	return err;
}

int cmd_report(const struct cli_report_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	__cleanup(contents__clear) struct contents c = {.options = o};
	struct view_names names = {.text = string_of, .kind = kind_of};
	struct report_options opt;
	int err;

	if (cmd_open_trace(o->file, &r))
		return EXIT_CODE_FAILURE;
	err = read_all(r, &c);
	if (err) {
		diag_error("cannot read %s: %s", o->file, strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	if (c.callers && no_callers(r, o->file))
		return EXIT_CODE_FAILURE;
	names.ctx = r;
	opt = view_options(&c, r);
	if (opt.problem)
		diag_warn("%s: %s; the report covers what could be read", o->file, opt.problem);
	err = tell_unmatched(&c, &names) ?: print(&c, &names, &opt);
	if (err) {
		diag_error("cannot print the report: %s", strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	return cmd_finish_stdout(EXIT_CODE_OK);
}
