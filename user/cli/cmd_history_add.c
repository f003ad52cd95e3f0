// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/diag.h"
#include "history/commit.h"
#include "history/crate_sums.h"
#include "history/extract.h"
#include "history/store.h"
#include "options/exit_code.h"

/* git shows the changes of now: only soon after a build they are those that were built. */
#define FRESH_NS (UINT64_C(600) * 1000000000)

struct adding {
	const struct cli_history_add_options *options;
	struct store *store;
	size_t added;
	size_t known;	 /* that the store has already */
	bool unreadable; /* a trace; the store is not at fault */
	bool failed;
};

/* The user's options count for more than git, and git for more than a CI's variables. */
static struct commit find_commit(const struct cli_history_add_options *o,
				 const struct history_build *b, const char *directory,
				 const char *path)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	bool fresh = now > b->start_ns && now - b->start_ns < b->wall_ns + FRESH_NS;
	struct commit c;

	commit__init(&c);
	if (o->commit && o->branch)
		return c;
	/* A longer text is no commit of a CI's variables either. */
	if (o->commit)
		snprintf(c.commit, sizeof(c.commit), "%s", o->commit);
	else if (directory)
		commit__ask_git(&c, directory, b->start_ns, fresh);
	commit__add_ci(&c, getenv);
	if ((c.moved || c.no_reflog) && !*c.commit)
		diag_warn("%s: HEAD of %s %s, so its commit is not known; give it with --commit",
			  path, directory,
			  c.moved ? "has moved since it was recorded" : "has no reflog");
	return c;
}

static const char *chosen(struct history_rows *rows, const char *option, const char *found)
{
	const char *text = option ?: *found ? found : NULL;

	return text ? crate_sums_text(rows, text) : NULL;
}

static int read_rows(const struct adding *a, const char *path, struct history_rows *rows)
{
	const struct cli_history_add_options *o = a->options;
	struct history_build *b = &rows->build;
	_trace_reader_ struct trace_reader *r = NULL;
	const char *directory, *command;
	struct commit c;
	int err = cmd_open_trace(path, &r);

	if (err)
		return err;
	err = history_extract(r, rows, &directory);
	/* Of a service, which has a trace of every build, this is nothing to tell. */
	if (err == -ENODATA && o->quiet)
		return err;
	if (err == -ENODATA)
		return diag_error_r(err, "%s: no crate was compiled, so there is nothing to keep",
				    path);
	if (err)
		return cmd_unreadable(path, NULL, err);
	if (trace_reader__problem(r))
		diag_warn("%s: %s; the build is kept as \"%s\", and left out of trends and "
			  "checks",
			  path, trace_reader__problem(r), b->state);

	c = find_commit(o, b, directory, path);
	command = trace_reader__info(r)->command;
	b->commit = chosen(rows, o->commit, c.commit);
	b->branch = chosen(rows, o->branch, c.branch);
	b->dirty = c.dirty < 0 ? HISTORY_UNKNOWN : (uint64_t)c.dirty;
	b->label = chosen(rows, o->label, "");
	b->command = o->with_commands && command ? crate_sums_text(rows, command) : NULL;
	return 0;
}

static void add_trace(struct adding *a, const char *path)
{
	_history_rows_ struct history_rows rows;
	int err;

	history_rows__init(&rows);
	err = read_rows(a, path, &rows);
	/* The trace cannot be read later either. */
	if (err == -ENOENT || err == -EBADMSG || err == -EINVAL || err == -E2BIG ||
	    err == -EPROTONOSUPPORT) {
		a->unreadable = true;
		return;
	}
	if (!err)
		err = store__add(a->store, &rows);
	a->failed |= err < 0 && !(err == -ENODATA && a->options->quiet);
	a->added += !err;
	a->known += err == 1;
}

int cmd_history_add(const struct cli_history_add_options *o)
{
	_store_ struct store *s = NULL;
	struct adding a = {.options = o};

	/* A recording hurries; what it starts must not take the compilers' CPUs. */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
	if (store__open(o->store, STORE_WRITE, &s))
		return EXIT_CODE_FAILURE;
	a.store = s;
	for (size_t i = 0; i < o->traces.n; i++)
		add_trace(&a, o->traces.paths[i]);
	if (!o->traces.n)
		a.failed = store__flush(s) < 0;
	if (a.added && !o->quiet)
		diag_info("added %zu build%s to %s", a.added, a.added == 1 ? "" : "s",
			  store__name(s));
	if (a.known && !o->quiet)
		diag_info("%zu build%s in %s already", a.known, a.known == 1 ? " is" : "s are",
			  store__name(s));
	if (a.failed)
		return EXIT_CODE_FAILURE;
	return a.unreadable ? EXIT_CODE_DAMAGED : EXIT_CODE_OK;
}
