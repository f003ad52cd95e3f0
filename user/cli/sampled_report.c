// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/sampled_report.h"

#include <errno.h>

#include "base/diag.h"
#include "options/value.h"
#include "view/functions.h"
#include "view/memory.h"
#include "view/screen.h"
#include "view/waits.h"

/* Without --min: rows of functions and parts, and nodes of trees, in millionths of all. */
#define LEAST_OF_ROWS 5000
#define LEAST_OF_TREE 10000

enum trace_sample_cause sampled_report_cause(const struct cli_report_options *o)
{
	return o->memory ? TRACE_SAMPLE_FAULT : o->waits ? TRACE_SAMPLE_OFF_CPU : TRACE_SAMPLE_CPU;
}

static bool is_wanted(const void *ctx, const char *name)
{
	return value_matches(ctx, name);
}

/* The least value of what is shown, of `all`. */
static uint64_t least_of(const struct cli_report_options *o, uint64_t all)
{
	uint64_t ppm = o->tree ? LEAST_OF_TREE : LEAST_OF_ROWS;

	if (o->min.ns)
		return o->min.ns;
	return (uint64_t)((unsigned __int128)all * (o->min.ppm ?: ppm) / 1000000);
}

static int make_tree(const struct cli_report_options *o, const struct model *m,
		     struct call_tree *tree)
{
	const struct call_tree_options options = {
		.texts = m->options.texts,
		.wants = o->queries.n ? is_wanted : NULL,
		.ctx = &o->queries,
		.own = o->own,
	};

	return call_tree__make(tree, &m->stacks[sampled_report_cause(o)], &options);
}

/* A misspelt name would look like a query that takes no time. */
static int no_samples_in(const struct cli_report_options *o)
{
	return diag_error_r(-ENODATA, "no sample of %s is in a query of that name", o->file);
}

static int print_functions(const struct cli_report_options *o, const struct model *m,
			   const struct trace_reader *r, FILE *out, size_t width)
{
	static const enum functions_tree directions[] = {
		[CLI_TREE_NONE] = FUNCTIONS_NO_TREE,
		[CLI_TREE_DOWN] = FUNCTIONS_DOWN,
		[CLI_TREE_UP] = FUNCTIONS_UP,
	};
	_call_tree_ struct call_tree tree = {};
	struct functions_view view = {
		.tree = &tree,
		.totals = model__sampled(m),
		.cause = (uint8_t)sampled_report_cause(o),
		.direction = directions[o->tree],
		.by_total = o->sort == CLI_SORT_TOTAL,
		.top = o->top,
		.width = width,
		.problem = trace_reader__problem(r),
	};

	if (make_tree(o, m, &tree))
		return -ENOMEM;
	if (o->queries.n && !tree.all.n)
		return no_samples_in(o);
	view.least = least_of(o, tree.all.value);
	return o->json ? functions_json(out, &view) : functions_text(out, &view);
}

static int print_memory(const struct cli_report_options *o, const struct model *m,
			const struct trace_reader *r, FILE *out, size_t width)
{
	_call_tree_ struct call_tree tree = {};
	const struct memory_view view = {
		.samples = m->samples,
		.tree = &tree,
		.summary = m->summary,
		.items = m->items && items__any(m->items) && model__charges(m, TRACE_SAMPLE_FAULT)
				 ? m->items
				 : NULL,
		.names = &m->options.texts,
		.least = least_of(o, m->stacks[TRACE_SAMPLE_FAULT].all.value),
		.top = o->top,
		.width = width,
		.problem = trace_reader__problem(r),
	};

	if (make_tree(o, m, &tree))
		return -ENOMEM;
	return o->json ? memory_json(out, &view) : memory_text(out, &view);
}

static int print_waits(const struct cli_report_options *o, const struct model *m,
		       const struct trace_reader *r, FILE *out, size_t width)
{
	const struct sample_waits_options options = {
		.texts = m->options.texts,
		.wants = o->queries.n ? is_wanted : NULL,
		.ctx = &o->queries,
	};
	_sample_waits_ struct sample_waits waits = {};
	struct waits_view view = {
		.waits = &waits,
		.totals = model__sampled(m),
		.top = o->top,
		.width = width,
		.problem = trace_reader__problem(r),
	};

	if (sample_waits__make(&waits, &m->stacks[TRACE_SAMPLE_OFF_CPU], &options))
		return -ENOMEM;
	if (o->queries.n && !waits.all.n)
		return no_samples_in(o);
	view.least = least_of(o, waits.all.value);
	return o->json ? waits_json(out, &view) : waits_text(out, &view);
}

static int no_samples(const struct cli_report_options *o)
{
	static const char *const options[TRACE_SAMPLE_CAUSES] = {
		[TRACE_SAMPLE_CPU] = "--sample",
		[TRACE_SAMPLE_OFF_CPU] = "--off-cpu-stacks",
		[TRACE_SAMPLE_FAULT] = "--memory",
	};

	return diag_error_r(-ENODATA, "%s has no such samples: record it with %s", o->file,
			    options[sampled_report_cause(o)]);
}

int sampled_report_print(const struct cli_report_options *o, const struct model *m,
			 const struct trace_reader *r, FILE *out, FILE *screen)
{
	size_t width = o->wide ? 0 : screen_columns(screen);

	if (!m->stacks[sampled_report_cause(o)].all.n)
		return no_samples(o);
	if (o->functions || o->tree)
		return print_functions(o, m, r, out, width);
	return o->memory ? print_memory(o, m, r, out, width) : print_waits(o, m, r, out, width);
}
