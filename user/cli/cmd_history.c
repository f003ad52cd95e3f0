// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The commands of a history that take a few lines, and code that its commands share. */
#include "cli/cmd_history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "cli/cmd.h"
#include "history/address.h"
#include "history/clickhouse_tables.h"
#include "history/store.h"
#include "options/exit_code.h"
#include "view/history_list_view.h"
#include "view/screen.h"

struct history_filter history_filter_of(const struct cli_builds *b)
{
	return (struct history_filter){
		.branch = b->branch,
		.toolchain = b->toolchain,
		.workspace = b->workspace,
		.last = b->last,
	};
}

static const char *why_unresolved(int err)
{
	switch (err) {
	case -ENOENT:
		return "the current directory is in no git repository that could resolve it";
	case -EPERM:
		return "the git repository of the current directory is not only yours, so git is "
		       "not asked";
	case -EINVAL:
		return "git knows no such revision here";
	default:
		return strerror(-err);
	}
}

const char *history_commit_of(struct store *s, const char *text, const char *workspace,
			      char found[COMMIT_MAX])
{
	const struct history_filter f = {.commit = text, .workspace = workspace};
	uint64_t n;
	int err;

	if (history_builds__count(s, &f, &n))
		return NULL;
	if (n)
		return text;
	err = commit__resolve(text, ".", found);
	if (!err)
		return found;
	diag_error("%s has no build of commit %s, and %s; qprof-bpf history list shows the commits "
		   "that it has",
		   store__name(s), text, why_unresolved(err));
	return NULL;
}

int history_printed(int err)
{
	if (err && !ferror(stdout))
		diag_error("cannot print the answer: %s", strerror(-err));
	return cmd_finish_stdout(err ? EXIT_CODE_FAILURE : EXIT_CODE_OK);
}

/* ---- history, list, prune -------------------------------------------------------------------- */

/* The parser takes no such command line without --help. */
int cmd_history(const struct cli_history_options *o)
{
	(void)o;
	return EXIT_CODE_USAGE;
}

int cmd_history_list(const struct cli_history_list_options *o)
{
	_history_builds_ struct history_builds builds = {};
	_store_ struct store *s = NULL;
	struct history_filter f = history_filter_of(&o->builds);
	/* A program wants all builds, a user the newest. */
	bool newest = !f.last && !o->json;
	uint64_t all = 0;

	if (newest)
		f.last = HISTORY_LIST_SHOWN;
	if (o->schema)
		return history_printed(history_list_schema(stdout));
	if (store__open(o->store, STORE_READ, &s) || history_builds__ask(s, &f, &builds) ||
	    (newest && history_builds__count(s, &f, &all)))
		return EXIT_CODE_FAILURE;
	if (o->json)
		return history_printed(history_list_json(stdout, &builds));
	return history_printed(
		history_list_text(stdout, &builds, all, o->wide ? 0 : screen_columns(stdout)));
}

int cmd_history_prune(const struct cli_history_prune_options *o)
{
	_store_ struct store *s = NULL;
	struct timespec now;
	uint64_t ns, n;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (store__open(o->store, STORE_EXISTING, &s) ||
	    store__prune(s, ns > o->keep.ns ? ns - o->keep.ns : 0, &n))
		return EXIT_CODE_FAILURE;
	diag_info("%s: %" PRIu64 " build%s removed", store__name(s), n, n == 1 ? "" : "s");
	return EXIT_CODE_OK;
}

/* ---- The tables of a server ------------------------------------------------------------------ */

/* Where the statements are for no server in particular. */
#define DATABASE "qprof"

/* False after an error line. */
static bool is_cluster(const char *name)
{
	bool is = !name || clickhouse_version__is_cluster(name);

	if (!is)
		diag_error("--cluster: %s is no name of a cluster: letters, digits, _, - and .",
			   name);
	return is;
}

int cmd_history_schema(const struct cli_history_schema_options *o)
{
	const struct clickhouse_tables tables = {
		DATABASE,
		o->cluster,
		clickhouse_version__days(o->keep.ns),
	};

	if (!is_cluster(o->cluster))
		return EXIT_CODE_USAGE;
	clickhouse_tables__print(&tables, stdout);
	return EXIT_CODE_OK;
}

int cmd_history_migrate(const struct cli_history_migrate_options *o)
{
	_store_ struct store *file = NULL;
	bool of_server = o->store && address__is(o->store);

	if (!of_server && (o->cluster || o->keep.ns)) {
		diag_error("%s is of a server: give its address by --store",
			   o->cluster ? "--cluster" : "--keep");
		return EXIT_CODE_USAGE;
	}
	if (!of_server)
		return store__open(o->store, STORE_WRITE, &file) ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
	if (!is_cluster(o->cluster))
		return EXIT_CODE_USAGE;
	return clickhouse_version__migrate(o->store, o->cluster, o->keep.ns) ? EXIT_CODE_FAILURE
									     : EXIT_CODE_OK;
}
