/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The commands, one per cmd_<name>.c. Each returns an exit status (cli/exit_code.h, or that of a
 * launched command) and has printed what there was to say. Data goes to stdout.
 */
#ifndef QPROF_CLI_COMMANDS_H
#define QPROF_CLI_COMMANDS_H

#include "cli/options.h"
#include "trace/reader.h"

int cmd_record(const struct cli_record_options *o);
int cmd_top(const struct cli_top_options *o, const struct cli_record_options *record);
int cmd_report(const struct cli_report_options *o);
int cmd_diff(const struct cli_diff_options *o);
int cmd_dump(const struct cli_dump_options *o);
int cmd_verify(const struct cli_verify_options *o);
int cmd_export(const struct cli_export_options *o);
int cmd_import(const struct cli_import_options *o);
int cmd_plan(const struct cli_plan_options *o);
int cmd_doctor(const struct cli_doctor_options *o);
int cmd_stuck(const struct cli_stuck_options *o);
int cmd_pctab(const struct cli_pctab_options *o);
int cmd_help(const struct cli_help_options *o);
int cmd_version(void);

/*
 * `status`, or EXIT_CODE_FAILURE after an error line if what was printed could not all be written
 * to stdout (a full disk). The last call of a command that prints data.
 */
int cmd_finish_stdout(int status);

/* True if one of the globs matches, or there are none. */
bool cmd_matches(const struct cli_texts *globs, const char *text);

/*
 * Under sudo, be the one who ran it from now on: what is written is theirs, and root follows no
 * link of theirs. Negative errno after an error line.
 */
int cmd_become_invoker(void);

/*
 * The librustc_driver that `target` names: a file, a compiler's executable, a pid, "+toolchain", or
 * NULL for that of the rustc which would run here. Negative errno after an error line.
 */
int cmd_find_library(const char *target, char **path);

/* What a trace is called if nobody says: qprof-<utc>.qpt. */
#define CMD_TRACE_NAME_MAX 64
void cmd_default_trace_name(char name[CMD_TRACE_NAME_MAX]);

/* Open a trace for reading; prints one line on failure. */
int cmd_open_trace(const char *path, struct trace_reader **r);

#endif /* QPROF_CLI_COMMANDS_H */
