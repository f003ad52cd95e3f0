// SPDX-License-Identifier: Apache-2.0 OR MIT
/* `history diff` and `history check`: compare the sides, judge limits, print. */
#include "cli/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "cli/gates.h"
#include "cli/cmd_history.h"
#include "history/commits.h"
#include "history/sides.h"
#include "options/exit_code.h"
#include "options/options.h"
#include "view/diff_rows.h"
#include "view/screen.h"

struct history_compare {
	const char *store;
	unsigned int metric; /* enum cli_history_metric */
	struct cli_threshold min;
	const struct cli_gates *gates; /* NULL: none */
	bool is_series;		       /* the base builds are one, as of a branch */
	size_t top;
	bool json, markdown, wide;
	/* Fill in the sides of the open store. */
	int (*ask)(struct store *s, const void *options, struct sides *out);
	const void *options;
};

static uint64_t known(uint64_t number)
{
	return number == HISTORY_UNKNOWN ? 0 : number;
}

static struct diff_trace trace_of(const struct history_build *b, enum compare_side side)
{
	bool sampled = b->how && strcmp(b->how, "exact");

	return (struct diff_trace){
		.path = b->build,
		.side = side,
		.has_lost = b->lost != HISTORY_UNKNOWN,
		.lost = known(b->lost),
		.compiles = (uint32_t)known(b->compiles),
		.compiler = b->toolchain,
		.recording =
			{
				.compiles = (uint32_t)known(b->compiles),
				.reusing = (uint32_t)known(b->reused),
				.cost_ppm = known(b->cost_ppm),
				.probed = !sampled,
				.sampled = sampled,
				.off_cpu = true,
			},
	};
}

/* The builds as traces of a view, and how they differ. */
struct traces {
	struct diff_trace *all;
	struct compare_recording *recordings;
	size_t n;
	bool whole;
};

static void traces__clear(struct traces *t)
{
	free(t->all);
	free(t->recordings);
}

static int traces__init(struct traces *t, const struct sides *sides)
{
	size_t n = sides->n[COMPARE_BASE] + sides->n[COMPARE_NEW];

	*t = (struct traces){
		.all = calloc(n, sizeof(*t->all)),
		.recordings = calloc(n, sizeof(*t->recordings)),
		.n = n,
		.whole = true,
	};
	if (!t->all || !t->recordings)
		return diag_error_r(-1, "out of memory");
	for (size_t i = 0; i < n; i++) {
		bool is_new = i >= sides->n[COMPARE_BASE];

		t->all[i] = trace_of(sides->all[i], is_new ? COMPARE_NEW : COMPARE_BASE);
		t->recordings[i] = t->all[i].recording;
		if (t->all[i].lost)
			diag_warn("build %s: %lu records were lost; counts and times are too low",
				  t->all[i].path, (unsigned long)t->all[i].lost);
		t->whole &= !t->all[i].lost;
	}
	return 0;
}

static void find_compilers(const struct traces *t, struct diff_view *v)
{
	const struct diff_trace *last = &t->all[t->n - 1];

	for (size_t i = 0; i < t->n; i++) {
		const struct diff_trace *of = &t->all[i];

		if (!of->compiler || !last->compiler || !strcmp(of->compiler, last->compiler))
			continue;
		v->other_compilers[COMPARE_BASE] = of;
		v->other_compilers[COMPARE_NEW] = last;
		return;
	}
}

static void tell_side(const struct sides *s, enum compare_side side)
{
	const struct history_builds *b = &s->builds[side];
	const struct history_build *first = &b->at[0], *last = &b->at[b->n - 1];

	if (b->n == 1)
		diag_info("%s: build %s of commit %.12s", diff_sides[side], last->build,
			  last->commit ?: "unknown");
	else if (first->commit && last->commit && !strcmp(first->commit, last->commit))
		diag_info("%s: %zu builds of commit %.12s", diff_sides[side], b->n, last->commit);
	else
		diag_info("%s: %zu builds, from commit %.12s to %.12s", diff_sides[side], b->n,
			  first->commit ?: "unknown", last->commit ?: "unknown");
}

struct sum_from {
	const struct commits *c;
	bool is_series;
};

static int sum_of(void *ctx, compare_pick *pick, const void *pick_ctx, struct compare_row *out)
{
	const struct sum_from *s = ctx;

	return commits__sum(s->c, pick, pick_ctx, s->is_series, out);
}

static int judge(const struct history_compare *h, const struct commits *c, const struct traces *t,
		 const struct sides *sides, unsigned int differences)
{
	static const struct cli_gates none = {};
	const struct cli_gates *from = h->gates ?: &none;
	const struct compare_result *r = commits__result(c);
	_free_ struct diff_gate *gates = calloc(from->n + 1, sizeof(*gates));
	struct sum_from sum_from = {c, h->is_series};
	struct diff_view v = {
		.result = r,
		.by = DIFF_BY_BOTH,
		.traces = t->all,
		.n_traces = t->n,
		.gates = gates,
		.n_gates = from->n,
		.differences = differences,
		.top = h->top,
		.width = h->wide ? 0 : screen_columns(stdout),
	};
	int err;

	find_compilers(t, &v);
	if (!gates) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	if (gates__judge(from, &r->rules, sum_of, &sum_from, "history diff COMMIT COMMIT", gates))
		return EXIT_CODE_FAILURE;
	gates__decide(t->whole, &v, gates);
	tell_side(sides, COMPARE_BASE);
	tell_side(sides, COMPARE_NEW);
	if (sides->left_out)
		diag_info("left out, as they have another workspace, profile or host, reused "
			  "results, lost records, or more compiles failed: %zu build%s",
			  sides->left_out, sides->left_out == 1 ? "" : "s");
	err = h->json	    ? diff_json(stdout, &v)
	      : h->markdown ? diff_markdown(stdout, &v)
			    : diff_text(stdout, &v);
	if (err && !ferror(stdout))
		diag_error("cannot print the comparison: %s", strerror(-err));
	if (err)
		return EXIT_CODE_FAILURE;
	gates__report_doubts(&v);
	return v.status;
}

/* The exit status. */
static int compare_builds(const struct history_compare *h)
{
	static const enum compare_metric metrics[] = {
		[CLI_HISTORY_CPU] = COMPARE_CPU,     [CLI_HISTORY_WALL] = COMPARE_WALL,
		[CLI_HISTORY_COUNT] = COMPARE_COUNT, [CLI_HISTORY_RESULTS] = COMPARE_RESULTS,
		[CLI_HISTORY_MEMORY] = COMPARE_PEAK,
	};
	__cleanup(traces__clear) struct traces traces = {};
	_store_ struct store *s = NULL;
	_sides_ struct sides sides = {};
	_commits_ struct commits *c = NULL;
	struct compare_rules rules = {
		.of_history = true,
		.metric = metrics[h->metric],
		.min_ns = h->min.ns,
		.min_ppm = h->min.ppm,
	};
	unsigned int differences;
	int status;

	if (store__open(h->store, STORE_READ, &s) || h->ask(s, h->options, &sides) ||
	    traces__init(&traces, &sides))
		return EXIT_CODE_FAILURE;
	differences = compare_sides_differ(traces.recordings, sides.n[COMPARE_BASE],
					   sides.n[COMPARE_NEW]);
	rules.different_work = differences & COMPARE_CLEAN_AND_INCREMENTAL;
	rules.different_recording = differences & COMPARE_OTHER_RECORDING;
	if (commits__compare(s, sides.all, sides.n[COMPARE_BASE], sides.n[COMPARE_NEW], &rules, &c))
		return EXIT_CODE_FAILURE;
	status = judge(h, c, &traces, &sides, differences);
	return status == EXIT_CODE_FAILURE ? status : cmd_finish_stdout(status);
}

/* ---- history diff ---------------------------------------------------------------------------- */

static int ask_commits(struct store *s, const void *options, struct sides *out)
{
	const struct cli_history_diff_options *o = options;
	const struct history_filter f = {.toolchain = o->toolchain, .workspace = o->workspace};
	char of_base[COMMIT_MAX], of_new[COMMIT_MAX];
	const char *base = history_commit_of(s, o->commits.texts[0], o->workspace, of_base);
	const char *new =
		base ? history_commit_of(s, o->commits.texts[1], o->workspace, of_new) : NULL;

	return new ? sides__of_commits(s, base, new, &f, out) : -ENOENT;
}

int cmd_history_diff(const struct cli_history_diff_options *o)
{
	const struct history_compare h = {
		.store = o->store,
		.metric = o->metric,
		.min = o->min,
		.top = o->top,
		.json = o->json,
		.markdown = o->markdown,
		.wide = o->wide,
		.ask = ask_commits,
		.options = o,
	};

	return o->schema ? history_printed(diff_schema(stdout)) : compare_builds(&h);
}

/* ---- history check --------------------------------------------------------------------------- */

#define LEAST_NS   5000000 /* smaller changes of times are none */
#define ROWS_SHOWN 10

static int ask_against(struct store *s, const void *options, struct sides *out)
{
	const struct cli_history_check_options *o = options;
	char found[COMMIT_MAX];
	const struct sides_against a = {
		.commit = o->commit ? history_commit_of(s, o->commit, o->workspace, found) : NULL,
		.branch = o->against,
		.toolchain = o->toolchain,
		.workspace = o->workspace,
		.last = o->last,
	};

	return o->commit && !a.commit ? -ENOENT : sides__against(s, &a, out);
}

int cmd_history_check(const struct cli_history_check_options *o)
{
	const struct history_compare h = {
		.store = o->store,
		.metric = o->metric,
		.min = {.ns = LEAST_NS},
		.gates = &o->gates,
		.is_series = true,
		.top = ROWS_SHOWN,
		.json = o->json,
		.markdown = o->markdown,
		.wide = o->wide,
		.ask = ask_against,
		.options = o,
	};

	return o->schema ? history_printed(diff_schema(stdout)) : compare_builds(&h);
}
