// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/history_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

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
		       "not "
		       "asked";
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
