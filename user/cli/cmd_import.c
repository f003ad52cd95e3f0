// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/version.h"
#include "cli/cmd.h"
#include "import/measureme.h"
#include "options/exit_code.h"
#include "qprof/measureme_format.h"
#include "base/format.h"
#include "base/output_file.h"

/* Sums over all files. */
struct sums {
	uint64_t start_ns; /* the earliest */
	uint64_t spans;
	bool complete; /* no file is truncated, and all losses are known */
	struct trace_losses losses;
};

static int open_profile(const char *path, struct mm_reader **r)
{
	const char *why;
	int err = mm_reader__open(path, r, &why);

	return err ? diag_error_r(err, "cannot import %s: %s", path, why) : 0;
}

/* Read all files once, so that an unreadable file is found before the output is created. */
static int survey(const struct cli_files *files, struct sums *sums)
{
	*sums = (struct sums){.start_ns = UINT64_MAX, .complete = true};
	for (size_t i = 0; i < files->n; i++) {
		_mm_reader_ struct mm_reader *r = NULL;
		const struct mm_metadata *m;
		int err = open_profile(files->paths[i], &r);

		if (err)
			return err;
		m = mm_reader__metadata(r);
		if (m->start_time_ns < sums->start_ns)
			sums->start_ns = m->start_time_ns;
		if (mm_reader__problem(r) || (m->exported && !m->has_losses))
			sums->complete = false;
		/* Each file of a build contains the losses of the whole build. */
		for (int k = 0; k < TRACE_LOSS_MAX; k++)
			if (m->losses.count[k] > sums->losses.count[k])
				sums->losses.count[k] = m->losses.count[k];
	}
	return 0;
}

static void warn_of(const char *path, const struct mm_reader *r,
		    const struct measureme_found *found)
{
	uint64_t left_out = found->backwards + found->out_of_order;
	char a[FORMAT_MAX], b[FORMAT_MAX];

	if (mm_reader__problem(r))
		diag_warn("%s: %s; what could be read was imported", path, mm_reader__problem(r));
	if (!mm_reader__metadata(r)->found)
		diag_warn("%s: its command and start are unknown: the time of the file is used "
			  "as the start",
			  path);
	if (found->unnamed)
		diag_warn("%s: %s of %s events have no name in it: they are called <unknown>", path,
			  format_count(a, found->unnamed),
			  format_count(b, found->spans + found->values));
	if (left_out)
		diag_warn("%s: %s intervals make no sense, and were left out", path,
			  format_count(a, left_out));
	if (found->too_many_arguments)
		diag_warn("%s: it has more arguments than a trace holds: those of %s events were "
			  "kept",
			  path, format_count(a, found->arguments));
	if (found->overlapping)
		diag_warn("%s: %s intervals overlap others of their thread: self times around "
			  "them are wrong",
			  path, format_count(a, found->overlapping));
}

static int import_all(struct trace_writer *w, const struct cli_files *files, struct sums *sums)
{
	int err;

	for (size_t i = 0; i < files->n; i++) {
		const char *path = files->paths[i];
		_mm_reader_ struct mm_reader *r = NULL;
		struct measureme_found found;

		err = open_profile(path, &r);
		if (err)
			return err;
		err = import_measureme(w, (uint32_t)i, r, path, &found);
		if (err)
			return diag_error_r(err, "cannot import %s: %s", path,
					    err == -E2BIG ? "it has more names or kinds than a "
							    "trace holds"
							  : strerror(-err));
		warn_of(path, r, &found);
		sums->spans += found.spans;
	}
	err = sums->complete ? trace_writer__losses(w, &sums->losses) : 0;
	err = err ?: trace_writer__finish(w);
	return err ? diag_error_r(err, "cannot write the trace: %s", strerror(-err)) : 0;
}

/* --force must not empty an input. */
static int check_output(const char *output, const struct cli_files *files)
{
	struct stat out, in;

	if (stat(output, &out))
		return 0;
	for (size_t i = 0; i < files->n; i++) {
		if (!stat(files->paths[i], &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return diag_error_r(-EINVAL,
					    "%s is to be read, and cannot be the output; choose "
					    "another name with -o",
					    output);
	}
	return 0;
}

static int open_output(struct output_file *f, const char *output, bool force,
		       const struct sums *sums, struct trace_writer **w)
{
	/* Profiles contain no other clock than real time. */
	const struct trace_info info = {
		.tool = (char *)"qprof-bpf " QPROF_VERSION " import",
		.clock = TRACE_CLOCK_REALTIME,
		.clock_start_ns = sums->start_ns,
		.realtime_start_ns = sums->start_ns,
	};
	int err = output_file__choose(f, output, force) ?: trace_writer__open(f->path, &info, w);

	f->created = !err;
	if (err == -EEXIST)
		return cmd_no_output(output, err);
	if (err)
		return diag_error_r(err, "cannot create %s: %s%s", output, output_file_error(err),
				    diag_step(err, "; choose another place with -o"));
	return 0;
}

static int import_to(struct output_file *f, const struct cli_import_options *o, const char *output)
{
	_trace_writer_ struct trace_writer *w = NULL;
	char count[FORMAT_MAX], size[FORMAT_MAX];
	struct sums sums;
	int err = survey(&o->files, &sums) ?: check_output(output, &o->files);

	if (err)
		return err;
	err = open_output(f, output, o->force, &sums, &w) ?: import_all(w, &o->files, &sums);
	if (err)
		return err;
	err = output_file__commit(f);
	if (err)
		return diag_error_r(err, "cannot name %s: %s; what was imported is in %s", output,
				    strerror(-err), f->path);
	diag_info("imported %s intervals of %zu profile%s; wrote %s (%s)",
		  format_count(count, sums.spans), o->files.n, o->files.n == 1 ? "" : "s", output,
		  format_bytes(size, trace_writer__bytes(w)));
	return 0;
}

static int import(const struct cli_import_options *o, const char *output)
{
	_output_file_ struct output_file f = {0};
	int err = import_to(&f, o, output);

	if (err)
		output_file__discard(&f);
	return err;
}

int cmd_import(const struct cli_import_options *o)
{
	const char *name = basename(o->files.paths[0]), *extension = strstr(name, MM_EXTENSION);
	int len = extension ? (int)(extension - name) : (int)strlen(name);
	_free_ char *output = NULL;

	/* "a/regex_syntax-0004711.mm_profdata" -> "regex_syntax-0004711.qpt" */
	if (o->output)
		output = strdup(o->output);
	else if (asprintf(&output, "%.*s.qpt", len, name) < 0)
		output = NULL;
	if (!output) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	return import(o, output) ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}
