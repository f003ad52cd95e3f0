// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string.h>

#include "base/diag.h"
#include "base/format.h"
#include "cli/cmd.h"
#include "cli/find_library.h"
#include "cli/plan_file.h"
#include "options/exit_code.h"
#include "plan/library/file.h"
#include "plan/plan.h"
#include "plan/symbols/debug_file.h"
#include "view/plan_view.h"
#include "capture/toolchain_files.h"
#include "unwind/job.h"

/* Finds LLVM's library beside a compiler's, and the facts known of it. */

#define _plan_llvm_ __cleanup(plan_llvm__clear)

/*
 * Look for a library of LLVM's beside `library`, and read it, unless a store has what it shows;
 * with `store` that is kept. Always fills in *out, which is valid until plan_llvm__clear().
 */
static void plan_llvm__find(const char *library, bool store, struct plan_llvm *out)
{
	_toolchain_files_ struct toolchain_files files = {0};

	*out = (struct plan_llvm){0};
	toolchain_files__add_toolchain(&files, library);
	for (uint32_t i = 0; i < files.n && !out->plan; i++) {
		struct library_file *file = files.items[i].file;
		const char *path = library_file__path(file), *name = strrchr(path, '/');
		_unwind_table_ struct unwind_table *t = NULL;
		_unwind_job_ struct unwind_job *job = NULL;

		if (files.items[i].is_program || !name || strncmp(name, "/libLLVM", 8) != 0)
			continue;
		/* The unwind table comes with it, from the same file of the store. */
		if (unwind_job__begin(file, 0, store, &t, &job) ||
		    (job && unwind_job__finish(job, &t)) || !t->llvm)
			continue;
		out->path = strdup(path);
		out->plan = llvm_plan__ref(t->llvm);
	}
}

static void plan_llvm__clear(struct plan_llvm *l)
{
	free(l->path);
	llvm_plan__free(l->plan);
}

/* A debug file may be on a server, which only its user asks: no compile waits for a server. */
static void say_what_has_symbols(const struct plan *plan)
{
	_free_ char *place = debug_file__place(plan->build_id, plan->build_id_len);
	char hex[2 * PLAN_BUILD_ID_MAX + 1];

	if (plan->symbols != SYMBOLS_RECOVERED || !plan->build_id_len || !place)
		return;
	format_hex(hex, plan->build_id, plan->build_id_len);
	diag_info("%s has no symbols; to install those of a debuginfod server for all recordings: "
		  "sudo install -D -m 644 \"$(debuginfod-find debuginfo %s)\" %s",
		  plan->path, hex, place);
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
	err = o->import	    ? plan_file__import(file, o->import, &plan)
	      : o->no_cache ? plan__make(file, &plan)
			    : plan__load(file, &plan);
	if (err || (o->output && plan_file__write(file, plan, o->output)))
		return EXIT_CODE_FAILURE;
	say_what_has_symbols(plan);
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
