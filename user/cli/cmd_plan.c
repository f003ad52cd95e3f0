// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "cli/find_library.h"
#include "cli/plan_file.h"
#include "cli/plan_llvm.h"
#include "plan/cache.h"
#include "plan/library/file.h"
#include "plan/plan.h"
#include "plan/symbols/debug_file.h"
#include "plan/symbols/debuginfod.h"
#include "view/plan_view.h"

static const char *who_uses_it(const struct library_identity *id)
{
	if (!id->lasting)
		return "the plan was not kept, as the library was changed just now, or lies where "
		       "users can choose a file's times";
	return id->uid == geteuid() ? "only your recordings without root use this plan"
				    : "the plan was not kept, as the library is not yours";
}

/* A recording asks no server, and root uses no plan that a user has made. */
static void say_what_recordings_need(const struct library_identity *id, const struct plan *plan,
				     const char *debug_file)
{
	_free_ char *place = debug_file__place(plan->build_id, plan->build_id_len);
	_plan_ struct plan *kept = NULL;
	bool by_root = false;

	if (place && (plan_cache__load(id, &by_root, &kept) || !by_root ||
		      kept->symbols == SYMBOLS_RECOVERED))
		diag_info("%s; for all recordings install its debug file: sudo install -D -m 644 "
			  "%s %s",
			  who_uses_it(id), debug_file, place);
}

static int make_with_download(struct library_file *file, struct plan **out)
{
	_free_ char *path = NULL;
	int err = debuginfod__fetch(file, &path) ?: plan__make(file, path, out);

	if (!err && path)
		say_what_recordings_need(library_file__identity(file), *out, path);
	return err;
}

static int make(const struct cli_plan_options *o, struct library_file *file, struct plan **out)
{
	if (o->import)
		return plan_file__import(file, o->import, out);
	if (o->debuginfod)
		return make_with_download(file, out);
	return o->no_cache ? plan__make(file, NULL, out) : plan__load(file, out);
}

int cmd_plan(const struct cli_plan_options *o)
{
	_free_ char *path = NULL;
	_library_file_ struct library_file *file = NULL;
	_plan_ struct plan *plan = NULL;
	_plan_llvm_ struct plan_llvm llvm = {0};
	int err;

	if (find_library(o->target, &path, &file))
		return EXIT_CODE_FAILURE;
	diag_verbose("reading %s", path);
	if (!file && library_file__open(path, &file))
		return EXIT_CODE_FAILURE;
	if (make(o, file, &plan) || (o->output && plan_file__write(file, plan, o->output)))
		return EXIT_CODE_FAILURE;
	plan_llvm__find(path, !o->no_cache, &llvm);
	if (o->json)
		err = plan_json(stdout, plan, &llvm);
	else
		err = plan_text(stdout, plan, &llvm, o->full || diag_level() >= DIAG_VERBOSE);
	if (err) {
		diag_error("cannot print the plan: %s", strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	return cmd_finish_stdout(EXIT_CODE_OK);
}
