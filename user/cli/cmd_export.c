// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "export/measureme.h"
#include "view/format.h"

static int open_directory(const char *path, int *fd)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		return diag_error_r(-errno, "cannot make %s: %s; choose another place with -o",
				    path, strerror(errno));
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return diag_error_r(-errno,
				    "cannot write into %s: %s; choose another place with -o", path,
				    strerror(errno));
	return 0;
}

static void say_sums(const struct cli_export_options *o, const struct measureme_sums *sums)
{
	char count[FORMAT_MAX], size[FORMAT_MAX];

	if (sums->empty)
		diag_info("%" PRIu32 " compiler%s executed no query and %s no file", sums->empty,
			  sums->empty == 1 ? "" : "s", sums->empty == 1 ? "has" : "have");
	if (sums->unrecorded)
		diag_warn("%s executions were counted or estimated, to keep within a budget, and "
			  "have no interval: they are left out, and the times of who called them "
			  "have theirs",
			  format_count(count, sums->unrecorded));
	if (sums->adjusted)
		diag_warn("%s intervals did not nest, or ended later than the format allows; "
			  "they were adjusted",
			  format_count(count, sums->adjusted));
	diag_info("wrote %" PRIu32 " file%s with %s events to %s (%s)", sums->files,
		  sums->files == 1 ? "" : "s", format_count(count, sums->events), o->output,
		  format_bytes(size, sums->bytes));
}

static int to_measureme(const struct cli_export_options *o, struct trace_reader *r)
{
	_trace_reader_ struct trace_reader *survey = NULL;
	struct measureme_sums sums;
	_close_ int dir_fd = -1;

	if (cmd_open_trace(o->file, &survey) || open_directory(o->output, &dir_fd) ||
	    export_measureme(survey, r, dir_fd, o->output, o->force, &sums))
		return EXIT_CODE_FAILURE;
	say_sums(o, &sums);
	return EXIT_CODE_OK;
}

/* By enum cli_format. Each prints what went wrong, and returns an exit status. */
static int (*const formats[])(const struct cli_export_options *o, struct trace_reader *r) = {
	[CLI_FORMAT_MEASUREME] = to_measureme,
};

int cmd_export(const struct cli_export_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	int status;

	if (cmd_become_invoker() || cmd_open_trace(o->file, &r))
		return EXIT_CODE_FAILURE;
	status = formats[o->format](o, r);
	if (status == EXIT_CODE_OK && trace_reader__problem(r))
		diag_warn("%s: %s; what could be read was exported", o->file,
			  trace_reader__problem(r));
	return status;
}
