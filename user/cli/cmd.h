/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The commands. Each returns an exit status (options/exit_code.h, or the status of a launched
 * command) after printing all messages. Data goes to stdout. A newcomer reads these first, in this
 * order:
 *
 * - main.c: the process settles its rights, parses the command line, and runs a command.
 * - cmd.h: code that commands share: it opens traces, limits memory and output, and prints why a
 *   file cannot be read or written.
 * - cmd_report.c: the command reads one trace. Its options choose what the model keeps, and which
 *   view prints that. `dump`, `verify`, `why` and `export` have files of the same shape.
 * - process_filter.c: --crate and --process, for every command that reads a trace.
 * - cmd_diff.c: the command reads several traces; gates.c judges the limits of --fail-above.
 * - cmd_top.c: the command shows a trace while another process writes it, and takes keys.
 *
 * cmd_history.c has the small commands of a history, and code that all of them share. cmd_record.c
 * only starts user/record/. find_library.c finds the library that `plan`, `why` and `doctor` name.
 */
#ifndef QPROF_CLI_CMD_H
#define QPROF_CLI_CMD_H

#include <stdio.h>

#include "analyze/items.h"
#include "options/options.h"
#include "trace/reader.h"

#define CLI_PROTOTYPE(id, name) int cmd_##name(const struct cli_##name##_options *o);
CLI_COMMANDS(CLI_PROTOTYPE)
#undef CLI_PROTOTYPE

/*
 * Read the trace of a newly opened reader and print its report as `report FILE` does, as wide as
 * `screen`. `rows`: the limit of a table of queries; 0: all. 0, or a negative errno: -ENODATA after
 * an error line, others without one.
 */
int cmd_print_report(const char *file, struct trace_reader *r, FILE *out, FILE *screen,
		     size_t rows);

/*
 * Returns `status`, or EXIT_CODE_FAILURE after an error line if stdout could not take all output (a
 * full disk). The last call of a command that prints data.
 */
int cmd_finish_stdout(int status);

/*
 * Keep only the rights of the user who ran us or sudo (base/rights.h). main() calls this for
 * commands without `needs_rights`. Negative errno after an error line.
 */
int cmd_drop_rights(void);

/*
 * Whether a trace that expands to more than a recording does is refused, what is kept of it has a
 * size limit, and so has the output printed from it (struct cmd_output). All are true at first.
 */
void cmd_set_limits(bool limits);

/*
 * Memory of a command that reads traces. A hostile trace has another name, item, query or stack in
 * each of millions of intervals that take few bytes of it, and each of them may have a sum. A
 * million definitions take 0.7 GiB.
 */
#define CMD_MEMORY_FREE	  (UINT64_C(8) << 30)
#define CMD_MEMORY_FACTOR 64u

/* Open a trace for reading; prints one line on failure. */
int cmd_open_trace(const char *path, struct trace_reader **r);

/* As cmd_open_trace(), but prints nothing: *why is a message, or stays what it is. */
int cmd_try_trace(const char *path, struct trace_reader **r, const char **why);

/*
 * 0; or -ENODATA after an error line if the trace, which was read to its end, does not say what its
 * executions were about.
 */
int cmd_has_items(const struct trace_reader *r, const struct items *items, const char *file);

/* Print how to record the samples that a trace does not have; -ENODATA. */
int cmd_no_samples(const char *file, enum trace_sample_cause cause);

/* Print why a file cannot be written, and what to do; returns `err`. */
int cmd_no_output(const char *path, int err);

/*
 * Print that a trace cannot be read, or not be printed in full; returns `err`. `why` is the message
 * of opening it, or NULL.
 */
int cmd_unreadable(const char *path, const char *why, int err);

/*
 * The output of a command has a size limit, so that a hostile trace does not fill the disk: a name
 * of a megabyte takes a few bytes there, and may be in every line of the output. A recording that
 * compresses well has a large output too, and the limit is far above it. `dump` prints about 100
 * bytes for each byte of most recordings, and `report` fewer.
 */
#define CMD_OUTPUT_FREE	  (UINT64_C(4) << 30)
#define CMD_OUTPUT_FACTOR 1024u

struct cmd_output {
	uint64_t most; /* bytes */
	uint64_t written;
	bool exceeded;
};

/* The size limit of the output, in bytes, for a trace of `trace_bytes`; UINT64_MAX: none. */
uint64_t cmd_most_output(uint64_t trace_bytes);

/*
 * A stream to stdout that fails, with ferror() true, once it would exceed o->most; o->most may grow
 * meanwhile. Closing the stream flushes it to stdout, and leaves stdout open. NULL: no memory.
 */
FILE *cmd_open_output(struct cmd_output *o);

/* Close the stream, which may be NULL. Returns `err`, or -EFBIG if the output was too large. */
int cmd_close_output(struct cmd_output *o, FILE *out, int err);

#endif /* QPROF_CLI_CMD_H */
