// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/compare.h"
#include "analyze/compile_name.h"
#include "analyze/summary.h"
#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/trace_list.h"
#include "trace/reader.h"
#include "view/diff.h"
#include "view/screen.h"

struct sides {
	struct trace_list lists[COMPARE_N_SIDES];
	struct diff_trace *traces; /* of both, in that order; paths are the lists' */
	char **problems;	   /* theirs */
	char **compilers;
	size_t n;
	bool whole; /* all of them, as far as they tell */
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

static int sides__init(struct sides *s, const struct cli_files *words)
{
	size_t n;

	*s = (struct sides){.whole = true};
	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		int err = trace_list__init(&s->lists[i], words->paths[i]);

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

static void count_unrecorded(struct diff_trace *t, const struct trace_tally *tally)
{
	if (tally->kind == TRACE_KIND_COUNTED)
		t->counted += tally->events;
	if (tally->kind != TRACE_KIND_ESTIMATED)
		return;
	t->estimated += tally->events;
	t->rough = true;
}

static int take_item(struct summary *s, struct diff_trace *t, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return summary__span(s, &item->span, NULL);
	case TRACE_ITEM_PROCESS:
		return summary__process(s, item->process);
	case TRACE_ITEM_TALLY:
		count_unrecorded(t, &item->tally);
		return summary__tally(s, &item->tally);
	case TRACE_ITEM_LOSSES:
		t->lost = trace_losses__total(&item->losses);
		t->has_lost = true;
		return 0;
	case TRACE_ITEM_COSTS:
		summary__set_costs(s, &item->costs);
		return 0;
	default:
		return 0;
	}
}

static int sum_up(struct trace_reader *r, struct diff_trace *t, struct summary *s)
{
	struct trace_item item = {};
	int err;

	summary__borrow_texts(s);
	do {
		err = trace_reader__next(r, &item) ?: take_item(s, t, &item);
	} while (!err && item.kind != TRACE_ITEM_END);
	return err;
}

static const char *string_of(const void *ctx, uint32_t id)
{
	return trace_reader__string(ctx, id);
}

/* The same for the same build, in whatever order its compilers ran. */
static const char *compiler_of(const struct summary *s)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		const struct trace_process *p = summary__process_at(s, i);

		if (p->rustc_version && !compile_only_asks(p) &&
		    (!first || strcmp(p->rustc_version, first) < 0))
			first = p->rustc_version;
	}
	return first;
}

/* What is wrong with a trace is the reader's text, and goes with it. */
static int keep_texts(struct sides *sides, struct diff_trace *t, const struct trace_reader *r,
		      const struct summary *s)
{
	const char *problem = trace_reader__problem(r), *compiler = compiler_of(s);
	size_t i = t - sides->traces;

	t->problem = sides->problems[i] = problem ? strdup(problem) : NULL;
	t->compiler = sides->compilers[i] = compiler ? strdup(compiler) : NULL;
	return (problem && !t->problem) || (compiler && !t->compiler) ? -ENOMEM : 0;
}

/* Killed, or recorded for less long than it ran. A profile of rustc's own may not tell the status.
 */
static bool is_cut(const struct trace_process *p)
{
	if (p->exit_status == TRACE_EXIT_UNKNOWN)
		return !p->end_ns;
	return WIFSIGNALED(p->exit_status);
}

static void count_compiles(struct diff_trace *t, const struct summary *s)
{
	for (uint32_t i = 0; i < summary__n_processes(s); i++) {
		const struct trace_process *p = summary__process_at(s, i);

		if (compile_only_asks(p))
			continue;
		t->compiles++;
		t->late += p->attached_late;
		t->cut += is_cut(p);
	}
}

/* What the builds themselves have less of than others, in a warning. */
static void tell_missing_compiles(const struct diff_trace *t)
{
	if (t->late)
		diag_warn("%s: %u of %u compilers ran before their probes were there; what they "
			  "did until then is missing",
			  t->path, t->late, t->compiles);
	if (t->cut)
		diag_warn("%s: %u of %u compilers were killed, or still ran when the recording "
			  "ended; what they would have done is missing",
			  t->path, t->cut, t->compiles);
}

/* What may be missing from it, in a warning. */
static void tell_faults(struct sides *sides, const struct diff_trace *t, const struct summary *s)
{
	if (t->problem)
		diag_warn("%s: %s; what could be read is compared", t->path, t->problem);
	if (t->has_lost && t->lost)
		diag_warn("%s: %lu records were lost while it was recorded; counts and times are "
			  "too low",
			  t->path, (unsigned long)t->lost);
	if (!summary__spans(s))
		diag_warn("%s: no query was executed; was everything built already?", t->path);
	tell_missing_compiles(t);
	if (t->rough || t->counted)
		diag_warn("%s: to keep within a budget %lu executions were only counted, and about "
			  "%lu estimated: the self times of who called them have theirs",
			  t->path, (unsigned long)t->counted, (unsigned long)t->estimated);
	if (t->unwatched)
		diag_warn("%s: to keep within a budget activities, waiting or loading were not "
			  "watched all the time: of these less may have been seen than there was",
			  t->path);
	sides->whole &= !t->problem && !t->lost && !t->rough && !t->late && !t->cut;
	/* What was not built is fast. */
	sides->whole &= summary__spans(s) > 0;
}

static int add_trace(struct compare *c, struct sides *sides, struct diff_trace *t)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_summary_ struct summary *s = NULL;
	struct compare_names names = {.text = string_of};
	int err = cmd_open_trace(t->path, &r);

	if (err)
		return err;
	names.ctx = r;
	err = summary__new(&s);
	if (!err)
		err = sum_up(r, t, s);
	if (!err)
		err = compare__trace(c, t->side, s, &names);
	if (!err)
		err = keep_texts(sides, t, r, s);
	if (err)
		return diag_error_r(err, "cannot read %s: %s", t->path, strerror(-err));
	t->unwatched = trace_reader__stats(r).unwatched;
	count_compiles(t, s);
	tell_faults(sides, t, s);
	return 0;
}

/* Queries come and go, and change their names, from one version to the next. */
static void tell_compilers(const struct sides *sides)
{
	const struct diff_trace *first = NULL;

	for (size_t i = 0; i < sides->n; i++) {
		const struct diff_trace *t = &sides->traces[i];

		if (!t->compiler)
			continue;
		first = first ?: t;
		if (!strcmp(first->compiler, t->compiler))
			continue;
		diag_warn("%s was compiled by %s, and %s by %s: what differs may be the compiler's",
			  first->path, first->compiler, t->path, t->compiler);
		return;
	}
}

static bool matches(const char *glob, const char *text)
{
	return !fnmatch(glob, text, 0);
}

/* A crate goes by its name, or by that which tells it from others of that name. */
static bool is_meant(const void *ctx, const struct compare_unit *unit, const char *query)
{
	const struct cli_gate *gate = ctx;

	if (!gate->query != !query)
		return false;
	if (query && !matches(gate->query, query))
		return false;
	if (!gate->crate)
		return query || !unit;
	return unit && (matches(gate->crate, unit->crate) || matches(gate->crate, unit->name));
}

static bool is_above(const struct compare_row *row, enum compare_metric metric,
		     const struct cli_threshold *limit)
{
	int64_t change = compare_row__change(row, metric);
	uint64_t base = row->of[metric][COMPARE_BASE].median;

	if (!row->significant || change <= 0)
		return false;
	if (limit->ns)
		return (uint64_t)change > limit->ns;
	/* Long double: the products may have more than 64 bits. */
	return (long double)change * 100000 > (long double)base * limit->millipercent;
}

/* 0, or -errno after an error line. */
static int judge(const struct compare *c, const struct compare_result *r,
		 const struct cli_gates *from, struct diff_gate *gates)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct cli_gate *gate = &from->gates[i];
		struct diff_gate *to = &gates[i];
		int n = compare__sum(c, r, is_meant, gate, &to->row);

		if (n < 0)
			return diag_error_r(n, "out of memory");
		if (!n)
			return diag_error_r(-ENOENT,
					    "--fail-above %s: none of the traces has that; for the "
					    "names there are: qprof-bpf report --by query|crate",
					    gate->text);
		to->text = gate->text;
		to->limit_ns = gate->limit.ns;
		to->limit_millipercent = gate->limit.millipercent;
		to->exceeded = is_above(&to->row, r->rules.metric, &gate->limit);
	}
	return 0;
}

static struct compare_rules rules_of(const struct cli_diff_options *o)
{
	static const enum compare_metric metrics[] = {
		[CLI_METRIC_SELF] = COMPARE_SELF,
		[CLI_METRIC_TOTAL] = COMPARE_TOTAL,
		[CLI_METRIC_COUNT] = COMPARE_COUNT,
	};

	return (struct compare_rules){
		.metric = metrics[o->metric],
		.min_ns = o->min.ns,
		.min_millipercent = o->min.millipercent,
	};
}

static int print(const struct cli_diff_options *o, const struct diff_view *v)
{
	int err = o->json	? diff_json(stdout, v)
		  : o->markdown ? diff_markdown(stdout, v)
				: diff_text(stdout, v);

	return err ? diag_error_r(err, "cannot print the comparison: %s", strerror(-err)) : 0;
}

static bool has_unrecorded(const struct diff_view *v)
{
	for (size_t i = 0; i < v->n_traces; i++) {
		if (v->traces[i].counted || v->traces[i].rough)
			return true;
	}
	return false;
}

/* The exit status of limits that were judged on traces that may not be whole. */
static int status_of(const struct sides *sides, const struct diff_view *v)
{
	bool compared = true;

	for (size_t i = 0; i < v->n_gates; i++) {
		if (v->gates[i].exceeded)
			return EXIT_CODE_ABOVE;
		compared &= v->gates[i].row.compared;
	}
	if (!v->n_gates || (sides->whole && compared))
		return EXIT_CODE_OK;
	diag_error("something is missing from these traces, and --fail-above cannot pass them; "
		   "record them again%s",
		   has_unrecorded(v) ? ", without --budget" : "");
	return EXIT_CODE_FAILURE;
}

static int compare_sides(const struct cli_diff_options *o, struct sides *sides, struct compare *c)
{
	_compare_result_ struct compare_result result = {};
	const struct compare_rules rules = rules_of(o);
	_free_ struct diff_gate *gates = calloc(o->gates.n + 1, sizeof(*gates));
	struct diff_view view = {
		.result = &result,
		.traces = sides->traces,
		.n_traces = sides->n,
		.gates = gates,
		.n_gates = o->gates.n,
		.top = o->top,
		.width = o->wide ? 0 : screen_columns(stdout),
	};
	int err = 0;

	for (size_t i = 0; !err && i < sides->n; i++)
		err = add_trace(c, sides, &sides->traces[i]);
	if (err)
		return EXIT_CODE_FAILURE;
	tell_compilers(sides);
	if (!gates || compare__result(c, &rules, &result)) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	if (judge(c, &result, &o->gates, gates) || print(o, &view))
		return EXIT_CODE_FAILURE;
	return status_of(sides, &view);
}

int cmd_diff(const struct cli_diff_options *o)
{
	__cleanup(sides__clear) struct sides sides = {};
	_compare_ struct compare *c = NULL;
	int status;

	if (sides__init(&sides, &o->sides))
		return EXIT_CODE_FAILURE;
	if (compare__new(sides.lists[COMPARE_BASE].n, sides.lists[COMPARE_NEW].n, &c)) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	status = compare_sides(o, &sides, c);
	return status == EXIT_CODE_FAILURE ? status : cmd_finish_stdout(status);
}
