// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The rows that a history keeps of a build, as JSON lines: docs/history.md. */
#include <errno.h>

#include "export/job.h"
#include "history/extract.h"
#include "history/json_lines.h"

static ssize_t put(void *out, const char *bytes, size_t size)
{
	out__bytes(out, bytes, size);
	return (ssize_t)size;
}

int export_jsonl(struct export_job *job)
{
	const cookie_io_functions_t functions = {.write = put};
	_history_rows_ struct history_rows rows;
	_fclose_ FILE *to = NULL;
	const char *directory;
	int err;

	history_rows__init(&rows);
	err = history_extract(job->r, &rows, &directory);
	if (err)
		return err;
	to = fopencookie(job->out, "w", functions);
	if (!to)
		return -ENOMEM;
	for (int id = 0; id < HISTORY_TABLES; id++)
		job->written += history_rows__n(&rows, id);
	return json_lines__write(to, &rows);
}
