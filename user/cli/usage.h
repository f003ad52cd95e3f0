/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What --help prints, from the tables of cli/options.h. Lines fit 80 columns.
 */
#ifndef QPROF_CLI_USAGE_H
#define QPROF_CLI_USAGE_H

#include <stdio.h>

#include "cli/options.h"

/* "usage: qprof-bpf report [OPTION...] FILE"; `named`: with the command's name. */
void cli_print_usage_line(FILE *out, enum cli_command_id id, bool named);

/* Everything about one command. */
void cli_print_help(FILE *out, enum cli_command_id id);

/* `qprof-bpf --help`: the default command, the others in a line each, exit codes. */
void cli_print_overview(FILE *out);

/*
 * "-p, --pid=PID[,PID...]", and what it is without being given (" (16m)"), as help and manual show
 * them. `text` needs 128 bytes.
 */
void cli_option_heading(const struct cli_option *option, char text[128]);

#endif /* QPROF_CLI_USAGE_H */
