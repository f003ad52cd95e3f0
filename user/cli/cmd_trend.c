// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "base/diag.h"
#include "cli/cmd_history.h"
#include "history/trend.h"
#include "options/exit_code.h"
#include "view/screen.h"
#include "view/sparkline.h"
#include "view/trend_view.h"

static struct trend_question question_of(const struct cli_trend_options *o)
{
	static const enum trend_metric metrics[] = {
		[CLI_HISTORY_CPU] = TREND_CPU,	     [CLI_HISTORY_WALL] = TREND_WALL,
		[CLI_HISTORY_COUNT] = TREND_COUNT,   [CLI_HISTORY_RESULTS] = TREND_RESULTS,
		[CLI_HISTORY_MEMORY] = TREND_MEMORY,
	};

	return (struct trend_question){
		.of = {.crate = o->crate, .query = o->query, .item = o->item, .llvm = o->llvm},
		.metric = metrics[o->metric],
		.filter = history_filter_of(&o->builds),
	};
}

int cmd_trend(const struct cli_trend_options *o)
{
	_trend_ struct trend t = {};
	_store_ struct store *s = NULL;
	struct trend_question q = question_of(o);
	const struct trend_look look = {
		.full = o->full,
		.blocks = sparkline_has_blocks(),
		.width = o->wide ? 0 : screen_columns(stdout),
	};

	if (o->schema)
		return history_printed(trend_schema(stdout));
	if (store__open(o->store, STORE_READ, &s) || trend__ask(s, &q, &t))
		return EXIT_CODE_FAILURE;
	if (t.n)
		return history_printed(o->json ? trend_json(stdout, &t)
					       : trend_text(stdout, &t, &look));
	if (!t.n_builds && t.not_whole)
		diag_error("%s has no whole build that matches; builds that are not whole: %llu",
			   store__name(s), (unsigned long long)t.not_whole);
	else if (!t.n_builds)
		diag_error("%s has no build that matches; qprof-bpf history list shows all",
			   store__name(s));
	else
		diag_error("no build that matches (of %zu) has that crate, query, item or work of "
			   "LLVM; names are as in qprof-bpf report --by "
			   "crate|query|item|generic|pass",
			   t.n_builds);
	return EXIT_CODE_FAILURE;
}
