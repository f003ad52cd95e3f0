// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>

#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "plan/plan.h"
#include "view/plan_view.h"

int cmd_plan(const struct cli_plan_options *o)
{
	_free_ char *path = NULL;
	_plan_ struct plan *plan = NULL;
	int err;

	err = cmd_find_library(o->target, &path);
	if (err)
		return EXIT_CODE_FAILURE;
	diag_verbose("reading %s", path);
	err = o->no_cache ? plan__build(path, &plan) : plan__load(path, &plan);
	if (err)
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
