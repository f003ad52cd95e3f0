// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cargo_report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/model.h"
#include "analyze/verdict.h"
#include "base/diag.h"
#include "cli/cargo_traces.h"
#include "cli/cmd.h"

/* Rows of a table of queries, which is printed if one crate was compiled. */
#define ROWS 20

static void explain_nothing(const struct build_totals *totals, int status)
{
	if (totals->cached)
		diag_info(
			"nothing was compiled: a cache, as sccache, had all of it (%u crate%s). To "
			"record "
			"the compilers, leave it out: cargo clean, and then the same command with "
			"RUSTC_WRAPPER= before it",
			totals->cached, totals->cached == 1 ? "" : "s");
	else if (status)
		diag_info("nothing was compiled before the command failed; there is no report");
	else
		diag_info(
			"nothing was compiled. If cargo found all up to date, it compiles one "
			"crate again after touch src/lib.rs or src/main.rs there, and all of them "
			"after cargo clean; then record the same command. Compilers of a toolchain "
			"without librustc_driver are not seen");
}

/* Whether anything was compiled, or lost so that this is not known; else a line says why not. */
static int has_compiles(const char *trace, int status, bool *has)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_model_ struct model m = {};
	const struct build_totals *totals;
	struct model_options options;
	int err = cmd_open_trace(trace, &r);

	if (err)
		return err;
	options = model_options_of(r);
	options.parts = MODEL_BUILD;
	err = model__init(&m, &options) ?: model__read(&m, r);
	if (err)
		return cmd_unreadable(trace, NULL, err);
	totals = build__totals(m.build);
	*has = totals->compiles || totals->doctests ||
	       verdict_of(m.summary, m.has_losses ? &m.losses : NULL).state != VERDICT_SOUND;
	if (!*has)
		explain_nothing(totals, status);
	return 0;
}

static int print_report(const char *trace)
{
	_trace_reader_ struct trace_reader *r = NULL;
	int err = cmd_open_trace(trace, &r);

	if (err)
		return err;
	err = cmd_print_report(trace, r, stderr, stderr, ROWS);
	return err && err != -ENODATA ? cmd_unreadable(trace, NULL, err) : err;
}

void cargo_report(const char *directory, const char *trace, int status)
{
	_cargo_traces_ struct cargo_traces all = CARGO_TRACES_NONE;
	bool has;
	int err;

	/* Without a reader, as behind head -1, the status is cargo's all the same. */
	signal(SIGPIPE, SIG_IGN);
	/* Behind the ^C. */
	if (WIFSIGNALED(status) && isatty(STDERR_FILENO))
		fputc('\n', stderr);
	/* The recording did not begin, and has said why. */
	if (access(trace, F_OK))
		return;
	err = has_compiles(trace, status, &has);
	if (!err && !has) {
		if (unlink(trace))
			diag_warn("cannot remove %s, which is empty: %s", trace, strerror(errno));
		return;
	}
	/* One that is not kept takes no place of another, and one that cannot be read takes one. */
	if (!cargo_traces__list(&all, directory))
		cargo_traces__trim(&all);
	if (!err && !print_report(trace))
		diag_info("kept %s; next: cargo qprof page; or, after a change, cargo clean and "
			  "the same command again, cargo qprof diff",
			  trace);
}
