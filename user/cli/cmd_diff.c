// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/compare.h"
#include "analyze/compile_name.h"
#include "analyze/model.h"
#include "base/diag.h"
#include "cli/cmd.h"
#include "cli/gates.h"
#include "cli/process_filter.h"
#include "options/exit_code.h"
#include "options/value.h"
#include "trace/reader.h"
#include "view/diff.h"
#include "view/screen.h"

struct sides {
	struct process_filter filter; /* of all traces: a crate may be in one only */
	struct trace_list lists[COMPARE_N_SIDES];
	struct diff_trace *traces; /* of both sides, in that order; the lists own the paths */
	char **problems;	   /* problem texts of the traces */
	char **compilers;
	size_t n;
	bool whole;	/* no trace is known to be incomplete */
	uint64_t bytes; /* of all traces */
};

static void sides__clear(struct sides *s)
{
	for (int i = 0; i < COMPARE_N_SIDES; i++)
		trace_list__clear(&s->lists[i]);
	for (size_t i = 0; s->problems && i < s->n; i++)
		free(s->problems[i]);
	for (size_t i = 0; s->compilers && i < s->n; i++)
		free(s->compilers[i]);
	free(s->problems);
	free(s->compilers);
	free(s->traces);
}

static int sides__init(struct sides *s, const struct cli_diff_options *o)
{
	size_t n;

	*s = (struct sides){.whole = true, .filter = {.of = &o->of}};
	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		int err = trace_list__init(&s->lists[i], o->sides.paths[i]);

		if (err)
			return err;
	}
	n = (size_t)s->lists[COMPARE_BASE].n + s->lists[COMPARE_NEW].n;
	s->traces = calloc(n, sizeof(*s->traces));
	s->problems = calloc(n, sizeof(*s->problems));
	s->compilers = calloc(n, sizeof(*s->compilers));
	if (!s->traces || !s->problems || !s->compilers)
		return diag_error_r(-ENOMEM, "out of memory");
	for (int i = 0; i < COMPARE_N_SIDES; i++)
		for (uint32_t k = 0; k < s->lists[i].n; k++)
			s->traces[s->n++] =
				(struct diff_trace){.path = s->lists[i].paths[k], .side = i};
	return 0;
}

/* The same text for the same build, in any order of its compilers. */
static const char *compiler_of(const struct summary *s)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		const struct trace_process *p = summary__process_at(s, i);

		if (p->rustc_version && !compile_only_queries(p) &&
		    (!first || strcmp(p->rustc_version, first) < 0))
			first = p->rustc_version;
	}
	return first;
}

/* Whether a query was recorded, or seen in a sample. */
static bool has_content(const struct summary *s)
{
	_free_ struct summary_row *rows = NULL;
	size_t n = 0;

	if (summary__spans(s))
		return true;
	return summary__is_sampled(s) && !summary__rows(s, SUMMARY_ALL, &rows, &n) && n;
}

/* Count the compiles of a trace, and warn of all data that may be missing from it. */
static void warn_of_faults(struct sides *sides, struct diff_trace *t, const struct summary *s)
{
	bool content = has_content(s);

	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		const struct trace_process *p = summary__process_at(s, i);

		if (compile_only_queries(p))
			continue;
		t->compiles++;
		t->late += p->attached_late;
		/* Killed, or recorded for a part of its run. A profile may lack the status. */
		t->cut += p->exit_status == TRACE_EXIT_UNKNOWN ? !p->end_ns
							       : WIFSIGNALED(p->exit_status);
		t->memory_kills += p->kill == TRACE_KILL_MEMORY;
	}
	if (t->problem)
		diag_warn("%s: %s; what could be read is compared", t->path, t->problem);
	if (t->has_lost && t->lost)
		diag_warn("%s: %lu records were lost while it was recorded; counts and times are "
			  "too low",
			  t->path, (unsigned long)t->lost);
	if (!content)
		diag_warn("%s: no query was executed; was everything built already? cargo compiles "
			  "again after touch src/lib.rs, or cargo clean",
			  t->path);
	/* Compilers that did not run, or were not recorded, from start to end. */
	if (t->late)
		diag_warn("%s: %u of %u compilers began before their probes were attached; what "
			  "they did until then is missing",
			  t->path, t->late, t->compiles);
	if (t->cut)
		diag_warn("%s: %u of %u compilers were killed, or still ran when the recording "
			  "ended; what they would have done is missing",
			  t->path, t->cut, t->compiles);
	if (t->memory_kills)
		diag_warn("%s: %u of %u compilers were killed for want of memory", t->path,
			  t->memory_kills, t->compiles);
	/* A build in which nothing was compiled is always faster. */
	sides->whole &= content && !t->problem && !t->lost && !t->late && !t->cut;
}

static int compare_trace(struct compare *c, struct sides *sides, struct diff_trace *t,
			 struct trace_reader *r, struct model *m, enum cli_diff_by by)
{
	struct model_options options = model_options_of(r);
	bool is_part = process_filter__is_set(sides->filter.of);
	bool all = by == CLI_DIFF_BY_BOTH;
	const char *problem, *compiler;
	size_t i = t - sides->traces;
	struct cost cost;
	int err;

	options.parts = MODEL_BUILD | (all || by == CLI_DIFF_BY_ITEM ? MODEL_ITEMS : 0) |
			(all || by >= CLI_DIFF_BY_PASS ? MODEL_LLVM : 0);
	options.no_blocked_items = true;
	err = model__init(m, &options) ?: model__read(m, r);
	if (err)
		return err;
	cost = cost_of(m, trace_reader__stats(r).processes);
	t->recording = compare_recording_of(m, &cost);
	/* A share that all compilers have in the CPU time of the chosen ones means nothing. */
	if (is_part)
		t->recording.cost_ppm = 0;
	t->lost = trace_losses__total(&m->losses);
	t->has_lost = m->has_losses;
	if (m->items && (items__any(m->items) || by == CLI_DIFF_BY_ITEM))
		err = compare__items(c, t->side, m->items, &options.texts);
	if (m->llvm)
		err = err ?: compare__llvm(c, t->side, m->llvm);
	err = err ?: compare__trace(c, t->side, m->summary, &options.texts);
	if (!err)
		compare__costs(c, t->side, m->build, m->samples, &cost);
	/* The text of a trace's problem belongs to the reader, and is freed with it. */
	problem = trace_reader__problem(r);
	compiler = compiler_of(m->summary);
	t->problem = sides->problems[i] = problem ? strdup(problem) : NULL;
	t->compiler = sides->compilers[i] = compiler ? strdup(compiler) : NULL;
	if ((problem && !t->problem) || (compiler && !t->compiler))
		err = err ?: -ENOMEM;
	return !err && trace_reader__is_refused(r) ? -E2BIG : err;
}

static int add_trace(struct compare *c, struct sides *sides, struct diff_trace *t,
		     enum cli_diff_by by)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_model_ struct model m = {};
	int err = cmd_open_trace(t->path, &r);

	if (err)
		return err;
	process_filter__apply(&sides->filter, r);
	err = compare_trace(c, sides, t, r, &m, by);
	if (err)
		return cmd_unreadable(t->path, NULL, err);
	if (by == CLI_DIFF_BY_ITEM && cmd_has_items(r, m.items, t->path))
		return -ENODATA;
	sides->bytes += trace_reader__bytes_read(r);
	warn_of_faults(sides, t, m.summary);
	return 0;
}

/* Queries come and go, and change their names, from one version to the next. */
static void find_compilers(const struct sides *sides, struct diff_view *view)
{
	const struct diff_trace *first = NULL;

	for (size_t i = 0; i < sides->n; i++) {
		const struct diff_trace *t = &sides->traces[i];

		if (!t->compiler)
			continue;
		first = first ?: t;
		if (!strcmp(first->compiler, t->compiler))
			continue;
		view->other_compilers[COMPARE_BASE] = first;
		view->other_compilers[COMPARE_NEW] = t;
		return;
	}
}

static struct compare_rules rules_of(const struct cli_diff_options *o)
{
	static const enum compare_metric metrics[] = {
		[CLI_METRIC_SELF] = COMPARE_SELF,	[CLI_METRIC_TOTAL] = COMPARE_TOTAL,
		[CLI_METRIC_COUNT] = COMPARE_COUNT,	[CLI_METRIC_CPU] = COMPARE_CPU,
		[CLI_METRIC_WALL] = COMPARE_WALL,	[CLI_METRIC_PEAK] = COMPARE_PEAK,
		[CLI_METRIC_RESULTS] = COMPARE_RESULTS,
	};

	return (struct compare_rules){
		.metric = metrics[o->metric],
		.min_ns = o->min.ns,
		.min_ppm = o->min.ppm,
	};
}

static int print(const struct cli_diff_options *o, const struct diff_view *v, uint64_t bytes)
{
	struct cmd_output bound = {.most = cmd_most_output(bytes)};
	FILE *out = cmd_open_output(&bound);
	int (*write)(FILE * out, const struct diff_view *v) = diff_text;
	int err;

	if (o->json)
		write = diff_json;
	else if (o->markdown)
		write = diff_markdown;
	err = cmd_close_output(&bound, out, out ? write(out, v) : 0);
	if (err == -EFBIG)
		return cmd_unreadable("the comparison", NULL, err);
	if (!err || ferror(stdout))
		return 0;
	return diag_error_r(err, "cannot print the comparison: %s", strerror(-err));
}

static unsigned int differences_of(const struct sides *s)
{
	_free_ struct compare_recording *all = calloc(s->n, sizeof(*all));
	size_t n_base = s->lists[COMPARE_BASE].n;

	if (!all)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		all[i] = s->traces[i].recording;
	return compare_sides_differ(all, n_base, s->n - n_base);
}

struct sum_from {
	const struct compare *c;
	const struct compare_result *r;
	enum compare_of of;
};

static int sum_of(void *ctx, compare_pick *pick, const void *pick_ctx, struct compare_row *out)
{
	const struct sum_from *s = ctx;

	return compare__sum(s->c, s->r, s->of, pick, pick_ctx, out);
}

static int compare_sides(const struct cli_diff_options *o, struct sides *sides, struct compare *c)
{
	_compare_result_ struct compare_result result = {};
	struct compare_rules rules = rules_of(o);
	static const enum diff_by views[] = {
		[CLI_DIFF_BY_BOTH] = DIFF_BY_BOTH,	 [CLI_DIFF_BY_QUERY] = DIFF_BY_QUERY,
		[CLI_DIFF_BY_ITEM] = DIFF_BY_ITEM,	 [CLI_DIFF_BY_PASS] = DIFF_BY_PASS,
		[CLI_DIFF_BY_GENERIC] = DIFF_BY_GENERIC, [CLI_DIFF_BY_INSTANCE] = DIFF_BY_INSTANCE,
	};
	static const char *const names[] = {
		[COMPARE_OF_ITEMS] = "report --by item",
		[COMPARE_OF_QUERIES] = "report --by query|crate; an item: add --by item",
		[COMPARE_OF_PASSES] = "report --by pass",
		[COMPARE_OF_GENERICS] = "report --by generic",
		[COMPARE_OF_INSTANCES] = "report --json",
	};
	struct sum_from sum_from = {c, &result,
				    o->by == CLI_DIFF_BY_BOTH ? COMPARE_OF_QUERIES
							      : diff_by_of(views[o->by])};
	_free_ struct diff_gate *gates = calloc(o->gates.n + 1, sizeof(*gates));
	struct diff_view view = {
		.result = &result,
		.by = views[o->by],
		.traces = sides->traces,
		.n_traces = sides->n,
		.gates = gates,
		.n_gates = o->gates.n,
		.top = o->top,
		.width = o->wide ? 0 : screen_columns(stdout),
	};

	for (size_t i = 0; i < sides->n; i++)
		if (add_trace(c, sides, &sides->traces[i], o->by))
			return EXIT_CODE_FAILURE;
	if (process_filter__check(&sides->filter, "these traces"))
		return EXIT_CODE_FAILURE;
	find_compilers(sides, &view);
	view.differences = differences_of(sides);
	rules.different_work = view.differences & COMPARE_CLEAN_AND_INCREMENTAL;
	rules.different_recording = view.differences & COMPARE_OTHER_RECORDING;
	if (!gates || compare__result(c, &rules, &result)) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	if (o->by >= CLI_DIFF_BY_PASS && !result.has_llvm) {
		diag_error("what LLVM did is not known of all traces: it takes samples of the CPU "
			   "in LLVM, and a toolchain whose LLVM is understood (qprof-bpf plan)");
		return EXIT_CODE_FAILURE;
	}
	if (gates__judge(&o->gates, &result.rules, sum_of, &sum_from, names[sum_from.of], gates))
		return EXIT_CODE_FAILURE;
	gates__decide(sides->whole, &view, gates);
	if (print(o, &view, sides->bytes))
		return EXIT_CODE_FAILURE;
	gates__report_doubts(&view);
	return view.status;
}

int cmd_diff(const struct cli_diff_options *o)
{
	__cleanup(sides__clear) struct sides sides = {};
	_compare_ struct compare *c = NULL;
	int status;

	if (o->schema) {
		int err = diff_schema(stdout);

		if (err && !ferror(stdout))
			diag_error("cannot print the fields: %s", strerror(-err));
		return cmd_finish_stdout(err ? EXIT_CODE_FAILURE : EXIT_CODE_OK);
	}
	if (sides__init(&sides, o))
		return EXIT_CODE_FAILURE;
	if (compare__new(sides.lists[COMPARE_BASE].n, sides.lists[COMPARE_NEW].n, &c)) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	status = compare_sides(o, &sides, c);
	return status == EXIT_CODE_FAILURE ? status : cmd_finish_stdout(status);
}
