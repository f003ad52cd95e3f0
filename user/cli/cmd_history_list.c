// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include "cli/history_ask.h"
#include "options/exit_code.h"
#include "view/history_list_view.h"
#include "view/screen.h"

static int print(const struct cli_history_list_options *o, const struct history_builds *builds,
		 uint64_t all)
{
	if (o->json)
		return history_list_json(stdout, builds);
	return history_list_text(stdout, builds, all, o->wide ? 0 : screen_columns(stdout));
}

/* A program wants all builds, a user the newest. */
static int ask(const struct cli_history_list_options *o, struct store *s,
	       struct history_builds *builds, uint64_t *all)
{
	struct history_filter f = history_filter_of(&o->builds);
	bool newest = !f.last && !o->json;

	if (newest)
		f.last = HISTORY_LIST_SHOWN;
	return history_builds__ask(s, &f, builds)
		       ?: (newest ? history_builds__count(s, &f, all) : 0);
}

int cmd_history_list(const struct cli_history_list_options *o)
{
	_history_builds_ struct history_builds builds = {};
	_store_ struct store *s = NULL;
	uint64_t all = 0;

	if (o->schema)
		return history_printed(history_list_schema(stdout));
	if (store__open(o->store, STORE_READ, &s) || ask(o, s, &builds, &all))
		return EXIT_CODE_FAILURE;
	return history_printed(print(o, &builds, all));
}
