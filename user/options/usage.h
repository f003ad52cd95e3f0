/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Texts from the tables of options/options.h: --help, whose lines fit 80 columns, the manual, and
 * the completion of shells.
 */
#ifndef QPROF_OPTIONS_USAGE_H
#define QPROF_OPTIONS_USAGE_H

#include <stdio.h>

#include "options/options.h"

/*
 * "usage: qprof-bpf report [OPTION...] FILE"; `named`: with the command's name. Of a command whose
 * name is the first word of others, with a line for each of them.
 */
void cli_print_usage_line(FILE *out, enum cli_command_id id, bool named);

/* For a user who has named no command: what to begin with. */
void cli_print_first_screen(FILE *out);

/* Everything about one command. */
void cli_print_help(FILE *out, enum cli_command_id id);

/* `qprof-bpf --help`: the default command, the others in a line each, exit codes. */
void cli_print_overview(FILE *out);

/*
 * "-p, --pid=PID[,PID...]", as help and manual show it. `text` needs 128 bytes.
 */
void cli_option_heading(const struct cli_option *option, char text[128]);

/*
 * Print the manual page of a command, as in qprof-bpf-report(1), or with CLI_N_COMMANDS the page
 * qprof-bpf(1). The format is roff with the man macros; the contents come from the tables of
 * options/options.h.
 */
void cli_print_man(FILE *out, enum cli_command_id id);

/* Print text that roff takes literally; an empty line starts a paragraph. */
void cli_print_escaped(FILE *out, const char *text);

/* The completion script for a shell. Not CLI_SHELL_NONE. */
void cli_print_completion(FILE *out, enum cli_shell shell);

#endif /* QPROF_OPTIONS_USAGE_H */
