// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>

#include "cli/history_ask.h"
#include "cli/history_compare.h"
#include "view/diff.h"

static int ask(struct store *s, const void *options, struct sides *out)
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
		.ask = ask,
		.options = o,
	};

	return o->schema ? history_printed(diff_schema(stdout)) : history_compare(&h);
}
