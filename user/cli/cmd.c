// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/output_file.h"
#include "base/rights.h"
#include "options/exit_code.h"
#include "base/format.h"

#define BUFFER_BYTES 65536u

static bool no_limits;

void cmd_set_limits(bool limits)
{
	no_limits = !limits;
}

int cmd_has_items(const struct trace_reader *r, const struct items *items, const char *file)
{
	if (!trace_reader__stats(r).spans || items__any(items))
		return 0;
	if (trace_reader__problem(r))
		return diag_error_r(-ENODATA,
				    "%s does not say what its queries were about: it is "
				    "incomplete (%s), and names are written when a compiler ends",
				    file, trace_reader__problem(r));
	return diag_error_r(-ENODATA,
			    "%s does not say what its queries were about: it was recorded with "
			    "--no-keys, by an older version, or of a compiler whose names could "
			    "not be read",
			    file);
}

int cmd_no_samples(const char *file, enum trace_sample_cause cause)
{
	static const char *const options[TRACE_SAMPLE_CAUSES] = {
		[TRACE_SAMPLE_CPU] = "--sample",
		[TRACE_SAMPLE_OFF_CPU] = "--off-cpu-stacks",
		[TRACE_SAMPLE_FAULT] = "--memory",
	};

	return diag_error_r(-ENODATA, "%s has no such samples: record it with %s", file,
			    options[cause]);
}

int cmd_no_output(const char *path, int err)
{
	if (err == -EEXIST)
		return diag_error_r(err,
				    "%s exists already; choose another name with -o, or overwrite "
				    "it with --force",
				    path);
	return diag_error_r(err, "cannot write %s: %s%s", path, output_file_error(err),
			    diag_step(err, "; name a file with -o, or - for standard output"));
}

/*
 * Make room for what one more trace may take. The limit is one of the kernel's, for all that any
 * table keeps of a trace. Under the address sanitizer the limit would be for its own memory.
 */
static void bound_memory(const char *path)
{
#ifdef UNDER_SANITIZERS
	(void)path;
#else
	static uint64_t most = CMD_MEMORY_FREE;
	static struct rlimit own;
	struct rlimit data;
	struct stat st;

	if (no_limits || (!own.rlim_cur && getrlimit(RLIMIT_DATA, &own)))
		return;
	data = own;
	if (!stat(path, &st) && __builtin_add_overflow(most, st.st_size * CMD_MEMORY_FACTOR, &most))
		most = RLIM_INFINITY;
	if (most < data.rlim_cur)
		data.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &data);
#endif
}

int cmd_unreadable(const char *path, const char *why, int err)
{
	char size[FORMAT_MAX];

	if (err == -ENOMEM && !no_limits)
		return diag_error_r(err,
				    "cannot read %s: it takes more memory than there is, or than "
				    "%s and %u bytes for each byte of the file; to try it without "
				    "this limit, use --no-limits",
				    path, format_bytes(size, CMD_MEMORY_FREE), CMD_MEMORY_FACTOR);
	if (err == -E2BIG)
		return diag_error_r(err,
				    "cannot read %s: %s; to read it all the same, use "
				    "--no-limits",
				    path, TRACE_REFUSED);
	if (err == -EOVERFLOW)
		return diag_error_r(err,
				    "cannot show all of %s: its samples have too many different "
				    "stacks; choose compilers with --crate or --process",
				    path);
	if (err == -EFBIG)
		return diag_error_r(err,
				    "cannot print all of %s: it would take more than %u bytes for "
				    "each byte of the file, and %s; to print it all the same, use "
				    "--no-limits",
				    path, CMD_OUTPUT_FACTOR, format_bytes(size, CMD_OUTPUT_FREE));
	if (err == -EPROTONOSUPPORT && !why)
		return diag_error_r(err,
				    "cannot read %s: it was recorded with a budget, of which "
				    "newer versions know nothing; use the qprof-bpf that wrote it",
				    path);
	if (err == -EPROTONOSUPPORT)
		return diag_error_r(err,
				    "cannot read %s: %s; use the qprof-bpf that wrote it, or "
				    "a newer one",
				    path, why);
	if (err == -EACCES && rights__dropped_root())
		return diag_error_r(
			err,
			"cannot read %s: %s; sudo does not help, as reading is done with "
			"your own rights",
			path, why ?: strerror(-err));
	return diag_error_r(err, "cannot read %s: %s%s", path, why ?: strerror(-err),
			    diag_step(err, ""));
}

int cmd_try_trace(const char *path, struct trace_reader **r, const char **why)
{
	bound_memory(path);
	return trace_reader__open_with(path, no_limits, r, why);
}

int cmd_open_trace(const char *path, struct trace_reader **r)
{
	const char *why = NULL;
	int err = cmd_try_trace(path, r, &why);

	return err ? cmd_unreadable(path, why, err) : 0;
}

uint64_t cmd_most_output(uint64_t trace_bytes)
{
	if (no_limits || trace_bytes > UINT64_MAX / (2 * CMD_OUTPUT_FACTOR))
		return UINT64_MAX;
	return CMD_OUTPUT_FREE + CMD_OUTPUT_FACTOR * trace_bytes;
}

static ssize_t write_bounded(void *cookie, const char *data, size_t size)
{
	struct cmd_output *o = cookie;

	if (size > o->most || o->written > o->most - size) {
		o->exceeded = true;
		errno = EFBIG;
		return 0;
	}
	o->written += size;
	return (ssize_t)fwrite(data, 1, size, stdout);
}

FILE *cmd_open_output(struct cmd_output *o)
{
	FILE *out = fopencookie(o, "w", (cookie_io_functions_t){.write = write_bounded});

	if (out)
		setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
	return out;
}

int cmd_close_output(struct cmd_output *o, FILE *out, int err)
{
	if (!out)
		return err ?: -ENOMEM;
	/* cmd_finish_stdout() reports errors of stdout itself. */
	fclose(out);
	return o->exceeded ? -EFBIG : err;
}

int cmd_finish_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	diag_error("cannot write to standard output: %s", strerror(errno));
	return EXIT_CODE_FAILURE;
}

int cmd_drop_rights(void)
{
	int err = rights__drop();

	return err ? diag_error_r(err,
				  "cannot give up the rights of root or of the program file: %s; "
				  "run this without sudo, with a copy that has no capabilities",
				  strerror(-err))
		   : 0;
}
