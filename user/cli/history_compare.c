// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/history_compare.h"

#include <string.h>

#include "base/diag.h"
#include "cli/cmd.h"
#include "cli/gates.h"
#include "history/commits.h"
#include "options/exit_code.h"
#include "view/screen.h"

static enum compare_metric metric_of(unsigned int metric)
{
	static const enum compare_metric metrics[] = {
		[CLI_HISTORY_CPU] = COMPARE_CPU,     [CLI_HISTORY_WALL] = COMPARE_WALL,
		[CLI_HISTORY_COUNT] = COMPARE_COUNT, [CLI_HISTORY_RESULTS] = COMPARE_RESULTS,
		[CLI_HISTORY_MEMORY] = COMPARE_PEAK,
	};

	return metrics[metric];
}

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
	static const char *const names[] = {[COMPARE_BASE] = "base", [COMPARE_NEW] = "new"};
	const struct history_builds *b = &s->builds[side];
	const struct history_build *first = &b->at[0], *last = &b->at[b->n - 1];

	if (b->n == 1)
		diag_info("%s: build %s of commit %.12s", names[side], last->build,
			  last->commit ?: "unknown");
	else if (first->commit && last->commit && !strcmp(first->commit, last->commit))
		diag_info("%s: %zu builds of commit %.12s", names[side], b->n, last->commit);
	else
		diag_info("%s: %zu builds, from commit %.12s to %.12s", names[side], b->n,
			  first->commit ?: "unknown", last->commit ?: "unknown");
}

static void tell_sides(const struct sides *s)
{
	tell_side(s, COMPARE_BASE);
	tell_side(s, COMPARE_NEW);
	if (s->left_out)
		diag_info("left out, as they have another workspace, profile or host, reused "
			  "results, lost "
			  "records, or more compiles failed: %zu build%s",
			  s->left_out, s->left_out == 1 ? "" : "s");
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

static int print(const struct history_compare *h, const struct diff_view *v)
{
	int err;

	if (h->json)
		err = diff_json(stdout, v);
	else if (h->markdown)
		err = diff_markdown(stdout, v);
	else
		err = diff_text(stdout, v);
	if (err && !ferror(stdout))
		diag_error("cannot print the comparison: %s", strerror(-err));
	return err;
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

	find_compilers(t, &v);
	if (!gates) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	if (gates__judge(from, &r->rules, sum_of, &sum_from, "history diff COMMIT COMMIT", gates))
		return EXIT_CODE_FAILURE;
	gates__decide(t->whole, &v, gates);
	tell_sides(sides);
	if (print(h, &v))
		return EXIT_CODE_FAILURE;
	gates__report_doubts(&v);
	return v.status;
}

int history_compare(const struct history_compare *h)
{
	__cleanup(traces__clear) struct traces traces = {};
	_store_ struct store *s = NULL;
	_sides_ struct sides sides = {};
	_commits_ struct commits *c = NULL;
	struct compare_rules rules = {
		.of_history = true,
		.metric = metric_of(h->metric),
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
