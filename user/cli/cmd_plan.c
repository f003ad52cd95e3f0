// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>

#include "base/diag.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "cli/find_library.h"
#include "plan/library/file.h"
#include "plan/plan.h"
#include "plan/symbols/debuginfod.h"
#include "view/plan_view.h"

static int make_with_download(struct library_file *file, struct plan **out)
{
	_free_ char *path = NULL;
	int err = debuginfod__fetch(file, &path);

	return err ?: plan__make(file, path, out);
}

static int make(const struct cli_plan_options *o, struct library_file *file, struct plan **out)
{
	if (o->debuginfod)
		return make_with_download(file, out);
	return o->no_cache ? plan__make(file, NULL, out) : plan__load(file, out);
}

int cmd_plan(const struct cli_plan_options *o)
{
	_free_ char *path = NULL;
	_library_file_ struct library_file *file = NULL;
	_plan_ struct plan *plan = NULL;
	int err;

	if (find_library(o->target, &path, &file))
		return EXIT_CODE_FAILURE;
	diag_verbose("reading %s", path);
	if (!file && library_file__open(path, &file))
		return EXIT_CODE_FAILURE;
	if (make(o, file, &plan))
		return EXIT_CODE_FAILURE;
	if (o->json)
		err = plan_json(stdout, plan);
	else
		err = plan_text(stdout, plan, o->full || diag_level() >= DIAG_VERBOSE);
	if (err) {
		diag_error("cannot print the plan: %s", strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	return cmd_finish_stdout(EXIT_CODE_OK);
}
