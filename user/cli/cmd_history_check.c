// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>

#include "cli/history_ask.h"
#include "cli/history_compare.h"
#include "view/diff.h"

#define LEAST_NS   5000000 /* smaller changes of times are none */
#define ROWS_SHOWN 10

static int ask(struct store *s, const void *options, struct sides *out)
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
		.ask = ask,
		.options = o,
	};

	return o->schema ? history_printed(diff_schema(stdout)) : history_compare(&h);
}
