// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/cost.h"
#include "analyze/model.h"
#include "base/diag.h"
#include "cli/cmd.h"
#include "cli/process_filter.h"
#include "options/exit_code.h"
#include "options/value.h"
#include "trace/reader.h"
#include "view/build.h"
#include "view/cost_view.h"
#include "view/screen.h"
#include "view/view.h"
#include "view/functions.h"
#include "view/memory.h"
#include "view/waits.h"
#include "options/options.h"

/* The reports that are made of sampled stacks: --functions, --tree, --memory, --waits. */

static bool sampled_report_is_asked_for(const struct cli_report_options *o)
{
	return o->functions || o->tree || o->memory || o->waits;
}

/* Without --min: rows of functions and parts, and nodes of trees, in millionths of all. */
#define LEAST_OF_ROWS 5000
#define LEAST_OF_TREE 10000

/* The cause of the samples that they are made of: enum trace_sample_cause. */
static enum trace_sample_cause sampled_report_cause(const struct cli_report_options *o)
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

/* A report and what it is made of. */
struct contents {
	const struct cli_report_options *options;
	struct process_filter filter;
	struct model model;
	struct cost cost;
	struct whole_build whole;
};

static bool asks_for_build(const struct cli_report_options *o)
{
	return o->by == CLI_BY_BUILD || o->markdown || o->full;
}

/* Whether no option asks for rows other than those of a build. */
static bool may_be_of_build(const struct cli_report_options *o)
{
	bool rows = o->queries.n || o->callers.n || o->llvm.n || o->min.ns || o->min.ppm ||
		    o->sort != CLI_SORT_CPU;

	return asks_for_build(o) || (o->by == CLI_BY_AUTO && !rows);
}

/* Whether queries are asked for, and nothing else about rows. */
static bool shows_details(const struct cli_report_options *o)
{
	return o->by == CLI_BY_AUTO && o->queries.n && !o->callers.n && !o->json;
}

static const struct cli_texts *asked_for(const struct cli_report_options *o)
{
	return o->callers.n ? &o->callers : &o->queries;
}

static unsigned int parts_of(const struct cli_report_options *o)
{
	if (sampled_report_is_asked_for(o))
		return o->memory && !o->functions && !o->tree ? MODEL_ITEMS : 0;
	if (o->by == CLI_BY_ITEM)
		return MODEL_ITEMS | MODEL_LLVM;
	if (o->by == CLI_BY_MODULE)
		return MODEL_ITEMS;
	if (o->by == CLI_BY_MACRO)
		return MODEL_MACROS;
	if (o->by == CLI_BY_CGU)
		return MODEL_UNITS;
	if (o->by == CLI_BY_PASS)
		return MODEL_LLVM;
	/* The items' instances. */
	if (o->by == CLI_BY_GENERIC || o->llvm.n)
		return MODEL_LLVM | MODEL_ITEMS;
	if (o->by >= CLI_BY_CRATE)
		return MODEL_GROUPS;
	if (o->callers.n)
		return MODEL_CALLERS;
	if (shows_details(o))
		return MODEL_ITEMS | MODEL_GROUPS | MODEL_CALLERS;
	return o->json || may_be_of_build(o) ? MODEL_BUILD | MODEL_ITEMS | MODEL_LLVM : 0;
}

static bool is_of_build(const struct cli_report_options *o)
{
	return parts_of(o) & MODEL_BUILD;
}

static int contents__read(struct contents *c, struct trace_reader *r)
{
	const struct cli_texts *labels = asked_for(c->options);
	struct model_options options = model_options_of(r);
	int err;

	/* A build knows the CPU time of compilers that still ran, for the cost below each table. */
	options.parts = parts_of(c->options) | MODEL_BUILD;
	/* A chosen crate need not be of the workspace. */
	options.own_items = is_of_build(c->options) && !process_filter__is_set(&c->options->of);
	options.raw = c->options->raw;
	if (sampled_report_is_asked_for(c->options))
		options.stack_causes = 1u << sampled_report_cause(c->options);
	else if (is_of_build(c->options))
		options.stack_causes = 1u << TRACE_SAMPLE_CPU;
	options.wants = labels->n ? is_wanted : NULL;
	options.wants_ctx = labels;
	err = model__init(&c->model, &options) ?: model__read(&c->model, r);
	if (!err)
		c->cost = cost_of(&c->model, trace_reader__stats(r).processes);
	return err;
}

static void contents__clear(struct contents *c)
{
	model__destroy(&c->model);
	whole_build__clear(&c->whole);
}

/* A name as tables cut it: "app..{{impl}}[2]::expression", or without a beginning. */
static bool is_cut_of(const char *cut, const char *name)
{
	const char *dots = strstr(cut, "..");
	size_t len = strlen(name), end = dots ? strlen(dots + 2) : 0;

	return end && len >= (size_t)(dots - cut) + end &&
	       !strncmp(name, cut, (size_t)(dots - cut)) && !strcmp(name + len - end, dots + 2);
}

/* A function's name is seldom written out: the end of its path will do. */
static bool is_of_llvm(const void *ctx, const char *name)
{
	const struct cli_texts *wanted = ctx;
	size_t len = strlen(name);

	for (size_t i = 0; i < wanted->n; i++) {
		size_t end = strlen(wanted->texts[i]);

		if (len >= end && !strcmp(name + len - end, wanted->texts[i]) &&
		    (len == end || (len > end + 1 && !strncmp(name + len - end - 2, "::", 2))))
			return true;
		if (is_cut_of(wanted->texts[i], name))
			return true;
	}
	return value_matches(wanted, name);
}

static enum report_llvm llvm_rows_of(const struct cli_report_options *o)
{
	if (o->llvm.n)
		return REPORT_LLVM_FUNCTION;
	return o->by == CLI_BY_PASS	 ? REPORT_LLVM_PASS
	       : o->by == CLI_BY_GENERIC ? REPORT_LLVM_GENERIC
					 : REPORT_LLVM_NONE;
}

static struct report_options view_options(const struct contents *c, const struct trace_reader *r,
					  FILE *screen)
{
	static const enum group_by by[] = {
		[CLI_BY_CRATE] = GROUP_BY_CRATE,
		[CLI_BY_PROCESS] = GROUP_BY_PROCESS,
		[CLI_BY_THREAD] = GROUP_BY_THREAD,
	};
	static const enum report_sort sort[] = {
		[CLI_SORT_CPU] = REPORT_SORT_CPU,     [CLI_SORT_SELF] = REPORT_SORT_SELF,
		[CLI_SORT_TOTAL] = REPORT_SORT_TOTAL, [CLI_SORT_COUNT] = REPORT_SORT_COUNT,
		[CLI_SORT_MAX] = REPORT_SORT_MAX,     [CLI_SORT_NAME] = REPORT_SORT_NAME,
		[CLI_SORT_OFF] = REPORT_SORT_OFF,     [CLI_SORT_INSTANCES] = REPORT_SORT_INSTANCES,
		[CLI_SORT_HITS] = REPORT_SORT_HITS,
	};
	const struct cli_report_options *o = c->options;
	const struct model *m = &c->model;

	return (struct report_options){
		.top = o->top,
		.width = o->wide ? 0 : screen_columns(screen),
		.wide = o->wide,
		.problem = trace_reader__problem(r),
		.sort = sort[o->sort],
		.min_ns = o->min.ns,
		.min_ppm = o->min.ppm,
		.query = is_wanted,
		.query_ctx = asked_for(o),
		.groups = m->groups,
		.callers = trace_reader__stats(r).callers || o->callers.n ? m->callers : NULL,
		.details = shows_details(o),
		.items = is_of_build(o) || llvm_rows_of(o) ? NULL : m->items,
		.modules = o->by == CLI_BY_MODULE,
		.subjects = m->subjects,
		.llvm = o->by == CLI_BY_ITEM ? NULL : m->llvm,
		.llvm_by = llvm_rows_of(o),
		.llvm_wants = o->llvm.n ? is_of_llvm : NULL,
		.llvm_ctx = &o->llvm,
		.locator = m->options.stacks,
		.by = by[o->by],
		.all_cpu_ns = on_cpu_ns(trace_without_probes(m->self_ns, m->self_probe_ns),
					m->self_off_ns),
		.costs = m->has_costs ? &m->costs : NULL,
		/* Of the recording as a whole. */
		.cost = c->cost.is_part ? NULL : &c->cost,
		.raw = o->raw,
		.samples = m->samples,
	};
}

static bool has_hits(const struct summary *s)
{
	_free_ struct summary_row *rows = NULL;
	size_t n = 0;

	if (summary__rows(s, SUMMARY_ALL, &rows, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (rows[i].hits)
			return true;
	return false;
}

/* Whether to print the report of a build: requested, or a crate was compiled. */
static bool shows_build(const struct contents *c)
{
	return asks_for_build(c->options) ||
	       (may_be_of_build(c->options) && build__totals(c->model.build)->compiles);
}

static int print(const struct contents *c, struct report_options *opt, FILE *out)
{
	const struct model *m = &c->model;
	const struct trace_texts *names = &m->options.texts;
	const struct trace_losses *losses = m->has_losses ? &m->losses : NULL;
	const struct build_view build = {
		.build = m->build,
		.items = m->items,
		.summary = m->summary,
		.losses = losses,
		.names = names,
		.costs = opt->costs,
		.cost = &c->cost,
		.raw = opt->raw,
		.problem = opt->problem,
		.top = opt->top,
		.full = c->options->full,
		.wide = c->options->wide || c->options->full,
		.samples = m->samples,
		.rebuilt = m->rebuilt,
		.n_rebuilt = m->n_rebuilt,
		.llvm = m->llvm,
		.stacks = m->stacks[TRACE_SAMPLE_CPU].all.n ? &m->stacks[TRACE_SAMPLE_CPU] : NULL,
	};

	opt->build = is_of_build(c->options) ? &build : NULL;
	if (c->options->json)
		return report_json(out, m->summary, losses, names, opt);
	if (c->options->cost && !opt->cost)
		return diag_error_r(-ENODATA,
				    "what recording cost is known of all compilers together: leave "
				    "out --crate and --process");
	if (c->options->cost)
		return cost_text(out, opt->cost);
	if (!shows_build(c))
		return report_text(out, m->summary, losses, names, opt);
	return c->options->markdown ? build_markdown(out, &build) : build_text(out, &build);
}

static bool is_named(const struct contents *c, const struct summary_row *rows, size_t n,
		     const char *glob)
{
	const struct trace_texts *names = &c->model.options.texts;
	const struct cli_texts one = {&glob, 1};

	for (size_t i = 0; i < n; i++)
		if (value_matches(&one, names->text(names->ctx, rows[i].label)))
			return true;
	return false;
}

/* A misspelt name would look like a query that takes no time. */
static int warn_unmatched(const struct contents *c, bool *none)
{
	const struct cli_texts *globs = asked_for(c->options);
	_free_ struct summary_row *rows = NULL;
	size_t n, found = 0;
	int err = summary__rows(c->model.summary, SUMMARY_ALL, &rows, &n);

	for (size_t i = 0; !err && i < globs->n; i++) {
		if (is_named(c, rows, n, globs->texts[i]))
			found++;
		else
			diag_warn("nothing in %s is called %s", c->options->file, globs->texts[i]);
	}
	*none = n && globs->n && !found;
	return err;
}

/*
 * Print, after everything was read. The report is as wide as `screen`, which is the target of
 * `out`. `rows`: as in cmd_print_report().
 */
static int print_all(struct contents *c, struct trace_reader *r, FILE *out, FILE *screen,
		     size_t rows)
{
	const struct cli_report_options *o = c->options;
	const struct trace_stats stats = trace_reader__stats(r);
	struct report_options opt = view_options(c, r, screen);
	bool none;
	int err;

	if (process_filter__check(&c->filter, o->file))
		return -ENODATA;
	/* A trace recorded with --callers, but without a known caller, looks the same. */
	if (o->callers.n && stats.spans && !stats.callers)
		return diag_error_r(-ENODATA,
				    "the callers of the queries of %s are not recorded; if it was "
				    "recorded without --callers, record it with them",
				    o->file);
	if (opt.items && !opt.details && !sampled_report_is_asked_for(o) &&
	    cmd_has_items(r, c->model.items, o->file))
		return -ENODATA;
	if (opt.sort == REPORT_SORT_HITS && !has_hits(c->model.summary))
		diag_warn("%s has no cache hits; record them with -e query-cache-hit", o->file);
	if (opt.problem)
		diag_warn("%s: %s; the report covers what could be read", o->file, opt.problem);
	if (sampled_report_is_asked_for(o)) {
		if (!c->model.stacks[sampled_report_cause(o)].all.n)
			err = cmd_no_samples(o->file, sampled_report_cause(o));
		else if (o->functions || o->tree)
			err = print_functions(o, &c->model, r, out, opt.width);
		else if (o->memory)
			err = print_memory(o, &c->model, r, out, opt.width);
		else
			err = print_waits(o, &c->model, r, out, opt.width);
		return trace_reader__is_refused(r) ? -E2BIG : err;
	}
	if (!shows_build(c))
		opt.top = rows ?: opt.top;
	err = warn_unmatched(c, &none);
	/* Notes on rows would be on nothing. */
	if (!err && (!none || o->json || o->cost || shows_build(c)))
		err = print(c, &opt, out);
	/* The reader expands names when they are printed, so it may still refuse the trace. */
	return trace_reader__is_refused(r) ? -E2BIG : err;
}

int cmd_print_report(const char *file, struct trace_reader *r, FILE *out, FILE *screen, size_t rows)
{
	const struct cli_report_options o = {.file = file};
	__cleanup(contents__clear) struct contents c = {.options = &o, .filter = {.of = &o.of}};

	return contents__read(&c, r) ?: print_all(&c, r, out, screen, rows);
}

int cmd_report(const struct cli_report_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	__cleanup(contents__clear) struct contents c = {.options = o, .filter = {.of = &o->of}};
	struct cmd_output bound = {};
	FILE *out;
	int err;

	if (o->schema)
		return cmd_finish_stdout(report_schema(stdout) ? EXIT_CODE_FAILURE : EXIT_CODE_OK);
	if (cmd_open_trace(o->file, &r))
		return EXIT_CODE_FAILURE;
	process_filter__apply(&c.filter, r);
	err = contents__read(&c, r);
	/* The build whose parts --crate and --process choose. A pipe cannot be read twice. */
	if (!err && is_of_build(o) && process_filter__is_set(&o->of)) {
		if (trace_reader__stats(r).file_bytes)
			err = whole_build__read(&c.whole, &o->of, o->file);
		err = err ?: build__set_whole(c.model.build, c.whole.model.build);
	}
	bound.most = cmd_most_output(trace_reader__bytes_read(r));
	out = err ? NULL : cmd_open_output(&bound);
	if (!err)
		err = out ? print_all(&c, r, out, stdout, 0) : -ENOMEM;
	err = cmd_close_output(&bound, out, err);
	if (ferror(stdout))
		return cmd_finish_stdout(EXIT_CODE_FAILURE);
	if (err && err != -ENODATA)
		cmd_unreadable(o->file, NULL, err);
	return err ? EXIT_CODE_FAILURE : cmd_finish_stdout(EXIT_CODE_OK);
}
