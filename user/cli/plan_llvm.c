// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/plan_llvm.h"

#include <string.h>

#include "capture/foreseen_files.h"
#include "unwind/job.h"

static bool is_llvm(const struct foreseen_file *f)
{
	const char *path = library_file__path(f->file), *name = strrchr(path, '/');

	return !f->is_program && name && !strncmp(name, "/libLLVM", 8);
}

/* The unwind table comes with it, from the same file of the store. */
static int read_table(struct library_file *file, bool store, struct unwind_table **out)
{
	_unwind_job_ struct unwind_job *job = NULL;
	int err = unwind_job__begin(file, 0, store, out, &job);

	return err || !job ? err : unwind_job__finish(job, out);
}

static bool take(struct library_file *file, bool store, struct plan_llvm *out)
{
	_unwind_table_ struct unwind_table *t = NULL;

	if (read_table(file, store, &t) || !t->llvm)
		return false;
	out->path = strdup(library_file__path(file));
	out->plan = llvm_plan__ref(t->llvm);
	return true;
}

void plan_llvm__find(const char *library, bool store, struct plan_llvm *out)
{
	_foreseen_files_ struct foreseen_files files = {0};

	*out = (struct plan_llvm){0};
	foreseen_files__add_toolchain(&files, library);
	for (uint32_t i = 0; i < files.n; i++)
		if (is_llvm(&files.items[i]) && take(files.items[i].file, store, out))
			return;
}

void plan_llvm__clear(struct plan_llvm *l)
{
	free(l->path);
	llvm_plan__free(l->plan);
}
