// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/format.h"
#include "base/output_file.h"
#include "base/own_path.h"
#include "base/signals.h"
#include "cli/cmd.h"
#include "cli/process_filter.h"
#include "export/job.h"
#include "export/measureme.h"
#include "export/notes.h"
#include "options/exit_code.h"

#define NAMES_MOST (16u << 20) /* bytes of names and tables, on top of --max-size */

/* Open the trace, to read what was chosen of it. The filter outlives the reader. */
static int open_chosen(const struct cli_export_options *o, struct process_filter *filter,
		       struct trace_reader **r)
{
	int err = cmd_open_trace(o->file, r);

	*filter = (struct process_filter){.of = &o->of};
	if (!err)
		process_filter__apply(filter, *r);
	return err;
}

static int no_place(int err, const char *cannot, const char *path)
{
	return diag_error_r(err, "%s %s: %s%s", cannot, path, strerror(-err),
			    diag_step(err, "; choose another place with -o"));
}

static int open_directory(const char *path, int *fd)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	_free_ char *real = NULL;
	int err = own_path__resolve(path, false, &real, &why);

	if (why.at)
		return diag_error_r(err, "cannot write into %s: %s; choose another place with -o",
				    path, own_path_error(err));
	/* Without links, which may be others by now. */
	if (mkdir(real ?: path, 0777) && errno != EEXIST)
		return no_place(-errno, "cannot make", path);
	*fd = open(real ?: path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (real ? O_NOFOLLOW : 0));
	if (*fd < 0)
		return no_place(-errno, "cannot write into", path);
	return 0;
}

/* ---- Formats of one stream ------------------------------------------------------------------- */

struct format {
	int (*write)(struct export_job *job);
	bool limited;	    /* --max-size leaves intervals out */
	const char *thing;  /* the name of a counted item */
	const char *viewer; /* how to open the file, ready to be copied; %s is the file */
};

/* By enum cli_format; measureme is a directory. */
static const struct format formats[] = {
	[CLI_FORMAT_HTML] = {export_html, true, "interval", "open %s in a browser"},
	[CLI_FORMAT_COUNTS] = {export_counts, false, "row", "read %s with any editor or sheet"},
	[CLI_FORMAT_JSONL] = {export_jsonl, false, "row",
			      "read %s with any database, or add it with \"qprof-bpf history "
			      "merge\""},
	[CLI_FORMAT_PERFETTO] = {export_perfetto, true, "interval",
				 "open %s in ui.perfetto.dev, which keeps it in your browser"},
	[CLI_FORMAT_FOLDED] = {export_folded, false, "stack",
			       "draw %s with inferno-flamegraph or flamegraph.pl --countname ns"},
	[CLI_FORMAT_PPROF] = {export_pprof, false, "stack",
			      "look at it with: go tool pprof -http=localhost: %s"},
	[CLI_FORMAT_SPEEDSCOPE] = {export_speedscope, false, "stack",
				   "open %s in www.speedscope.app, which keeps it in your browser, "
				   "or with the speedscope of npm"},
};

static bool is_stdout(const struct cli_export_options *o)
{
	return !strcmp(o->output, "-");
}

/* The size limit of the output: --max-size, or a limit by the size of the trace. */
static uint64_t most_bytes(const struct cli_export_options *o, const struct trace_reader *r)
{
	uint64_t file_bytes = trace_reader__stats(r).file_bytes;
	uint64_t bound = file_bytes ? cmd_most_output(file_bytes) : UINT64_MAX;
	uint64_t most = o->max_bytes;

	if (!most)
		return bound;
	/* This limit is for intervals; names and tables come on top. */
	if (o->format == CLI_FORMAT_HTML && most > EXPORT_PAGE_MOST)
		most = EXPORT_PAGE_MOST;
	if (formats[o->format].limited)
		most += NAMES_MOST;
	return most < bound ? most : bound;
}

static int too_large(const struct cli_export_options *o, uint64_t most)
{
	char size[FORMAT_MAX];

	if (!o->max_bytes || most < o->max_bytes)
		return cmd_unreadable(o->file, NULL, -EFBIG);
	return diag_error_r(-EFBIG,
			    "%s would get larger than %s; to write all of it, use --max-size 0",
			    is_stdout(o) ? "what is written" : o->output, format_bytes(size, most));
}

static int to_measureme(const struct cli_export_options *o, struct trace_reader *r)
{
	_trace_reader_ struct trace_reader *survey = NULL;
	uint64_t most = most_bytes(o, r);
	struct process_filter filter;
	struct measureme_sums sums;
	char count[FORMAT_MAX], size[FORMAT_MAX];
	_close_ int dir_fd = -1;
	int err;

	if (open_chosen(o, &filter, &survey) || open_directory(o->output, &dir_fd))
		return EXIT_CODE_FAILURE;
	err = export_measureme(survey, r, dir_fd, o->output, o->force, most, &sums);
	if (err == -EFBIG)
		too_large(o, most);
	else if (err == -E2BIG)
		cmd_unreadable(o->file, NULL, err);
	if (err)
		return EXIT_CODE_FAILURE;
	if (sums.empty)
		diag_info("%" PRIu32 " compiler%s executed no query and %s no file", sums.empty,
			  sums.empty == 1 ? "" : "s", sums.empty == 1 ? "has" : "have");
	if (sums.adjusted)
		diag_warn("%s intervals did not nest, or ended later than the format allows; "
			  "they were adjusted",
			  format_count(count, sums.adjusted));
	diag_info("wrote %" PRIu32 " file%s with %s events to %s (%s)", sums.files,
		  sums.files == 1 ? "" : "s", format_count(count, sums.events), o->output,
		  format_bytes(size, sums.bytes));
	if (sums.files)
		diag_info("read them with measureme's summarize, crox, flamegraph...; nothing was "
			  "sent anywhere, but they hold command lines and names of what was "
			  "compiled");
	return EXIT_CODE_OK;
}

/* The file being written; a signal must not leave it incomplete. */
static const char *volatile unfinished;

static void remove_unfinished(int sig)
{
	if (unfinished)
		unlink(unfinished);
	raise(sig); /* its disposition is the default again */
}

static const int guarded[] = {SIGINT, SIGTERM, SIGHUP, 0};

/* Only a file that we created may be removed: signals are blocked in between. */
static int create_guarded(struct output_file *file)
{
	const struct sigaction removing = {.sa_handler = remove_unfinished,
					   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
	const sigset_t set = signals_of(guarded);
	struct sigaction old;
	sigset_t was;
	int fd, err;

	sigprocmask(SIG_BLOCK, &set, &was);
	fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	err = -errno;
	file->created = fd >= 0;
	if (file->created)
		unfinished = file->path;
	for (const int *sig = guarded; file->created && *sig; sig++)
		if (!sigaction(*sig, NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(*sig, &removing, NULL);
	sigprocmask(SIG_SETMASK, &was, NULL);
	return fd < 0 ? err : fd;
}

static int open_output(const struct cli_export_options *o, struct output_file *file, int *fd)
{
	struct stat st;
	int err;

	if (is_stdout(o)) {
		*fd = dup(STDOUT_FILENO);
		return *fd < 0 ? cmd_no_output(o->output, -errno) : 0;
	}
	/* A directory may exist, so the error "exists already" would be wrong. */
	if (!stat(o->output, &st) && S_ISDIR(st.st_mode))
		return cmd_no_output(o->output, -EISDIR);
	err = output_file__choose(file, o->output, o->force);
	if (err)
		return cmd_no_output(o->output, err);
	*fd = create_guarded(file);
	return *fd < 0 ? cmd_no_output(o->output, *fd) : 0;
}

static void print_written(const struct cli_export_options *o, const struct export_job *job)
{
	const struct format *f = &formats[o->format];
	char count[FORMAT_MAX], size[FORMAT_MAX], note[EXPORT_NOTE_MAX];
	_free_ char *where = NULL;
	const char *file = is_stdout(o) ? "FILE" : o->output, *viewer = f->viewer;

	diag_info("wrote %s %s%s to %s (%s)", format_count(count, job->written), f->thing,
		  job->written == 1 ? "" : "s", is_stdout(o) ? "standard output" : o->output,
		  format_bytes(size, out__size(job->out)));
	if (job->cpu_by_samples)
		diag_info("seconds are CPU time by samples, 0 where none was; a count of 0 is not "
			  "known");
	if (export_note(job, NOTE_SAMPLED, note))
		diag_info("%s", note);
	if (export_note(job, NOTE_ADJUSTED, note))
		diag_warn("%s", note);
	if (export_note(job, NOTE_LEFT_OUT, note))
		diag_warn("%s; --max-size 0 keeps all", note);
	if (o->format == CLI_FORMAT_FOLDED && job->cause == TRACE_SAMPLE_FAULT)
		viewer = "draw %s with inferno-flamegraph or flamegraph.pl --countname bytes";
	if (asprintf(&where, viewer, file) < 0)
		where = NULL;
	diag_info("%s; nothing was sent anywhere, but it %s", where ?: file,
		  o->format == CLI_FORMAT_JSONL ? EXPORT_PRIVACY_ROWS : EXPORT_PRIVACY);
}

static int write_format(const struct cli_export_options *o, struct export_job *job,
			const struct process_filter *filter, uint64_t most)
{
	int err = formats[o->format].write(job);
	int out_err = out__flush(job->out);

	if (out_err == -EFBIG)
		return too_large(o, most);
	if (out_err)
		return no_place(out_err, "cannot write",
				is_stdout(o) ? "to standard output" : o->output);
	if (!err && trace_reader__is_refused(job->r))
		err = -E2BIG;
	if (!err)
		return process_filter__check(filter, o->file);
	if (err == -ENODATA)
		return diag_error_r(err, "%s: no crate was compiled, so there are no rows",
				    o->file);
	return cmd_unreadable(o->file, NULL, err);
}

/* Write the file, whatever becomes of it after an error, which was printed. */
static int write_file(const struct cli_export_options *o, struct export_job *job,
		      const struct process_filter *filter, struct output_file *file)
{
	uint64_t most = most_bytes(o, job->r);
	_close_ int fd = -1;
	_out_ struct out *out = NULL;
	int err = open_output(o, file, &fd);

	if (err)
		return err;
	err = out__new(fd, &out);
	if (err)
		return diag_error_r(err, "cannot export %s: %s", o->file, strerror(-err));
	job->out = out;
	out__limit(out, most);
	err = write_format(o, job, filter, most);
	if (err)
		return err;
	if (close(take_fd(fd)))
		return cmd_no_output(o->output, -errno);
	unfinished = NULL;
	err = output_file__commit(file);
	if (err)
		return cmd_no_output(o->output, err);
	print_written(o, job);
	return 0;
}

/* ---- Stacks of functions --------------------------------------------------------------------- */

/* The contents of a trace that are known only after it was read. */
struct held {
	bool spans;
	bool by_samples; /* not all queries have probes */
	bool wait_stacks;
	bool samples[TRACE_SAMPLE_CAUSES];
};

/*
 * Read up to a sample of the cause, or with cause 0 up to what decides: an interval of a query, or
 * a sample of a recording in which not all queries have probes.
 */
static int look_for(const struct cli_export_options *o, uint8_t cause, struct held *held)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct process_filter filter;
	struct trace_item item;
	int err = open_chosen(o, &filter, &r);

	if (err)
		return err;
	while (!(err = trace_reader__next(r, &item)) && item.kind != TRACE_ITEM_END) {
		held->spans |= item.kind == TRACE_ITEM_SPAN;
		held->by_samples |= item.kind == TRACE_ITEM_SAMPLING && item.sampling.queries;
		held->wait_stacks |= item.kind == TRACE_ITEM_SAMPLING && item.sampling.off_cpu;
		if (item.kind == TRACE_ITEM_SAMPLE)
			held->samples[item.sample.cause] |=
				item.sample.cause != TRACE_SAMPLE_OFF_CPU || held->wait_stacks;
		if (cause	       ? held->samples[cause]
		    : held->by_samples ? held->samples[TRACE_SAMPLE_CPU]
				       : held->spans)
			break;
	}
	return err ? cmd_unreadable(o->file, NULL, err) : 0;
}

/* Refuse a trace without executions. How a recording samples comes before its intervals. */
static int need_executions(const struct cli_export_options *o, const char *what)
{
	struct held held = {};

	if (look_for(o, 0, &held))
		return -EINVAL;
	if (!held.by_samples)
		return 0;
	return diag_error_r(-ENODATA,
			    "%s has not all executions of queries, which %s need: record it with "
			    "--exact",
			    o->file, what);
}

/*
 * Of which samples the stacks are; 0: of queries. Without an option, samples are taken if there is
 * nothing else. A pipe can be read but once, so it is believed.
 */
static int choose_cause(const struct cli_export_options *o, const struct trace_reader *r,
			uint8_t *cause)
{
	bool of_stacks = o->format == CLI_FORMAT_FOLDED || o->format == CLI_FORMAT_PPROF ||
			 o->format == CLI_FORMAT_SPEEDSCOPE;
	struct held held = {};

	*cause = o->functions ? TRACE_SAMPLE_CPU
		 : o->memory  ? TRACE_SAMPLE_FAULT
		 : o->waits   ? TRACE_SAMPLE_OFF_CPU
			      : 0;
	if (!of_stacks || !trace_reader__stats(r).file_bytes)
		return 0;
	if (o->keys || o->by)
		return need_executions(o, o->keys ? "stacks with keys" : "stacks of items");
	if (look_for(o, *cause, &held))
		return -EINVAL;
	if (*cause)
		return held.samples[*cause] ? 0 : cmd_no_samples(o->file, *cause);
	for (uint8_t i = TRACE_SAMPLE_CPU; i < TRACE_SAMPLE_CAUSES && !*cause; i++)
		if (held.samples[i] && (held.by_samples || !held.spans))
			*cause = i;
	if (*cause)
		diag_info("%s does not have all executions of queries: stacks are of functions, by "
			  "samples",
			  o->file);
	return 0;
}

static int to_stream(const struct cli_export_options *o, struct trace_reader *r,
		     const struct process_filter *filter)
{
	_trace_reader_ struct trace_reader *survey = NULL;
	struct process_filter survey_filter;
	__cleanup(whole_build__clear) struct whole_build whole = {};
	_output_file_ struct output_file file = {0};
	struct export_job job = {
		.r = r,
		.raw = o->raw,
		.keys = o->keys,
		.wall = o->wall,
		.by_item = o->by == CLI_EXPORT_BY_ITEM,
		.chosen = process_filter__is_set(filter->of),
		.short_names = o->format == CLI_FORMAT_HTML,
	};

	if (choose_cause(o, r, &job.cause))
		return EXIT_CODE_FAILURE;
	if (formats[o->format].limited)
		job.max_bytes = o->max_bytes;
	/* A pipe cannot be read twice: it is cut at the limit. */
	if (job.max_bytes && trace_reader__stats(r).file_bytes &&
	    open_chosen(o, &survey_filter, &survey))
		return EXIT_CODE_FAILURE;
	job.survey = survey;
	if (o->format == CLI_FORMAT_HTML && trace_reader__stats(r).file_bytes &&
	    whole_build__read(&whole, &o->of, o->file))
		return EXIT_CODE_FAILURE;
	job.whole = whole.model.build;
	if (!write_file(o, &job, filter, &file))
		return EXIT_CODE_OK;
	unfinished = NULL;
	output_file__discard(&file);
	return EXIT_CODE_FAILURE;
}

/* Call after the whole trace was read. */
static void warn_missing(const struct cli_export_options *o, struct trace_reader *r)
{
	const struct trace_stats s = trace_reader__stats(r);
	const char *source = trace_reader__info(r)->source;
	const struct export_job job = {.r = r};
	char note[EXPORT_NOTE_MAX];

	if (o->keys && s.spans && !s.mapped)
		diag_warn("%s does not say what its queries were about: the stacks are without "
			  "keys",
			  o->file);
	if (o->by == CLI_EXPORT_BY_ITEM && s.spans && !s.mapped)
		diag_warn("%s does not say what its queries were about: no stack has an item",
			  o->file);
	if (s.samples && (!source || strcmp(source, TRACE_SOURCE_OUTSIDE)) &&
	    (o->format == CLI_FORMAT_MEASUREME || o->format == CLI_FORMAT_COUNTS ||
	     o->format == CLI_FORMAT_JSONL))
		diag_warn("the stacks of %s have no place in this format: html, perfetto, folded, "
			  "pprof and speedscope have one",
			  o->file);
	if (export_note(&job, NOTE_LOST, note))
		diag_warn("%s; what is left was exported", note);
}

int cmd_export(const struct cli_export_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	struct process_filter filter;
	int status;

	if (open_chosen(o, &filter, &r))
		return EXIT_CODE_FAILURE;
	if (o->format == CLI_FORMAT_MEASUREME)
		status = need_executions(o, "measureme's events") ? EXIT_CODE_FAILURE
								  : to_measureme(o, r);
	else
		status = to_stream(o, r, &filter);
	if (status == EXIT_CODE_OK && process_filter__check(&filter, o->file))
		return EXIT_CODE_FAILURE;
	if (status == EXIT_CODE_OK)
		warn_missing(o, r);
	if (status == EXIT_CODE_OK && trace_reader__problem(r))
		diag_warn("%s: %s; what could be read was exported", o->file,
			  trace_reader__problem(r));
	return status;
}
