// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/process_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "cli/cmd.h"
#include "options/value.h"

bool process_filter__is_set(const struct cli_processes *of)
{
	return of->crates.n || of->ids.n;
}

static void replace(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

/* A package called a-b has a crate called a_b: either finds both. */
static bool matches(const struct cli_texts *globs, const char *name)
{
	_free_ char *other = name && *name ? strdup(name) : NULL;
	bool found = other && value_matches(globs, name);

	if (!other || found)
		return found;
	replace(other, '-', '_');
	found = value_matches(globs, other);
	replace(other, '_', '-');
	return found || value_matches(globs, other);
}

static bool is_called(const struct cli_texts *globs, const struct trace_process *p)
{
	_free_ char *name = compile_name(p), *package = compile_package(p);

	return matches(globs, p->crate) || matches(globs, name) || matches(globs, package);
}

static bool has_id(const struct cli_texts *ids, const struct trace_process *p)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRIu32, p->pid);
	for (size_t i = 0; i < ids->n; i++)
		if (!strcmp(ids->texts[i], pid))
			return true;
	return is_called(ids, p);
}

bool process_filter__wants(void *ctx, const struct trace_process *p)
{
	struct process_filter *f = ctx;
	const struct cli_processes *of = f->of;
	bool wanted =
		(!of->crates.n || is_called(&of->crates, p)) && (!of->ids.n || has_id(&of->ids, p));

	f->found = f->found || wanted;
	return wanted;
}

void process_filter__apply(struct process_filter *f, struct trace_reader *r)
{
	const struct trace_filter filter = {
		.to_ns = UINT64_MAX,
		.process = process_filter__wants,
		.ctx = f,
		.renumber = true,
	};

	if (process_filter__is_set(f->of))
		trace_reader__filter(r, &filter);
}

int whole_build__read(struct whole_build *w, const struct cli_processes *of, const char *file)
{
	struct model_options options;
	int err;

	if (!process_filter__is_set(of))
		return 0;
	err = cmd_open_trace(file, &w->r);
	if (err)
		return err;
	options = model_options_of(w->r);
	options.parts = MODEL_BUILD;
	err = model__init(&w->model, &options) ?: model__read(&w->model, w->r);
	return err ? cmd_unreadable(file, NULL, err) : 0;
}

void whole_build__clear(struct whole_build *w)
{
	model__destroy(&w->model);
	trace_reader__free(w->r);
	*w = (struct whole_build){};
}

int process_filter__check(const struct process_filter *f, const char *file)
{
	if (!process_filter__is_set(f->of) || f->found)
		return 0;
	return diag_error_r(-ENODATA,
			    "no process of %s is chosen by --crate and --process; report --by "
			    "process lists all",
			    file);
}
