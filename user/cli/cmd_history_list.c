// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "cli/history_ask.h"
#include "options/exit_code.h"
#include "view/history_list_view.h"
#include "view/screen.h"

static int print(const struct cli_history_list_options *o, const struct history_builds *builds)
{
	size_t most = o->builds.last ? 0 : HISTORY_LIST_SHOWN;

	if (o->json)
		return history_list_json(stdout, builds);
	return history_list_text(stdout, builds, most, o->wide ? 0 : screen_columns(stdout));
}

int cmd_history_list(const struct cli_history_list_options *o)
{
	_history_builds_ struct history_builds builds = {};
	_store_ struct store *s = NULL;
	struct history_filter f = history_filter_of(&o->builds);

	if (o->schema)
		return history_printed(history_list_schema(stdout));
	if (store__open(o->store, STORE_READ, &s) || history_builds__ask(s, &f, &builds))
		return EXIT_CODE_FAILURE;
	return history_printed(print(o, &builds));
}
