// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/diag.h"
#include "base/output_file.h"
#include "cli/history_ask.h"
#include "history/json_lines.h"
#include "history/store.h"
#include "options/exit_code.h"

static int write_build(void *ctx, const struct history_rows *rows)
{
	return json_lines__write(ctx, rows);
}

/* -EIO: of the stream, and not printed yet. */
static int write_all(struct store *s, FILE *out)
{
	int err = store__each(s, write_build, out);

	if (ferror(out) || fflush(out))
		return -EIO;
	return err;
}

static int open_output(struct output_file *file, FILE **out)
{
	_close_ int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	file->created = true;
	*out = fdopen(fd, "w");
	if (!*out)
		return -errno;
	take_fd(fd);
	return 0;
}

static int write_file(struct store *s, const struct cli_history_export_options *o)
{
	_output_file_ struct output_file file = {};
	_fclose_ FILE *out = NULL;
	int err = output_file__choose(&file, o->output, o->force);

	err = err ?: open_output(&file, &out);
	if (err)
		return diag_error_r(err, "cannot write %s: %s%s", o->output, strerror(-err),
				    err == -EEXIST ? "; --force overwrites it" : "");
	err = write_all(s, out);
	if (!err && fclose(take_ptr(out)))
		err = -EIO;
	err = err ?: output_file__commit(&file);
	if (err == -EIO)
		diag_error("cannot write %s: the disk may be full", o->output);
	return err;
}

int cmd_history_export(const struct cli_history_export_options *o)
{
	_store_ struct store *s = NULL;

	if (store__open(o->store, STORE_READ, &s))
		return EXIT_CODE_FAILURE;
	if (!o->output || !strcmp(o->output, "-"))
		return history_printed(write_all(s, stdout));
	return write_file(s, o) ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}
