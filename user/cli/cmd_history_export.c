// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/diag.h"
#include "base/output_file.h"
#include "cli/cmd_history.h"
#include "history/json_lines.h"
#include "history/store.h"
#include "options/exit_code.h"

static int write_build(void *ctx, const struct history_rows *rows)
{
	return json_lines__write(ctx, rows);
}

/* STREAM_FAILED is not printed yet; errors of the store are. */
#define STREAM_FAILED 1
static int write_all(struct store *s, FILE *out)
{
	int err = store__each(s, write_build, out);

	return ferror(out) || fflush(out) ? STREAM_FAILED : err;
}

static int write_file(struct store *s, const struct cli_history_export_options *o)
{
	_output_file_ struct output_file file = {};
	_fclose_ FILE *out = NULL;
	_close_ int fd = -1;
	int err = output_file__choose(&file, o->output, o->force);

	if (!err) {
		fd = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		file.created = fd >= 0;
		out = file.created ? fdopen(fd, "w") : NULL;
		err = out ? 0 : -errno;
	}
	if (out)
		take_fd(fd);
	if (err)
		return diag_error_r(err, "cannot write %s: %s%s", o->output, output_file_error(err),
				    err == -EEXIST ? "; --force overwrites it" : "");
	err = write_all(s, out);
	if (!err && fclose(take_ptr(out)))
		err = STREAM_FAILED;
	if (err == STREAM_FAILED)
		diag_error("cannot write %s: the disk may be full", o->output);
	if (err) {
		output_file__discard(&file);
		return err;
	}
	err = output_file__commit(&file);
	if (err)
		diag_error("cannot name %s: %s", o->output, strerror(-err));
	return err;
}

int cmd_history_export(const struct cli_history_export_options *o)
{
	bool to_file = o->output && strcmp(o->output, "-");
	_store_ struct store *s = NULL;
	int err;

	if (store__open(o->store, STORE_READ, &s))
		return EXIT_CODE_FAILURE;
	if (!to_file)
		err = write_all(s, stdout);
	else
		err = write_file(s, o);
	if (err == STREAM_FAILED && !to_file)
		return history_printed(-EIO);
	return err ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}
