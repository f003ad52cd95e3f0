/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * `cargo qprof`, the same program by its other name: its words as a table, and the help, the manual
 * page and the completion that are made of it. cli/cargo_qprof.h makes ordinary commands of them.
 */
#ifndef QPROF_OPTIONS_CARGO_QPROF_H
#define QPROF_OPTIONS_CARGO_QPROF_H

#include <stdio.h>

#include "options/options.h"

#define CARGO_QPROF_NAME "cargo-qprof"
#define CARGO_QPROF_SUDO "--sudo"

/* A word that is ours, and not a command of cargo. */
struct cargo_word {
	const char *name;
	const char *what;
	enum cli_command_id command; /* that does it, with the newest trace, or traces */
};

/* NULL: it is none of ours. */
const struct cargo_word *cargo_word(const char *name);

/* Whether `help` is asked for it: cargo-qprof, or cargo qprof. */
bool cargo_qprof_is_meant(const struct cli_name *topic);

/* Fits 80 columns and 24 lines, with the line of the prompt. */
void cargo_qprof_print_help(FILE *out);
void cargo_qprof_print_man(FILE *out);
/* As cli_print_completion(); for bash, it is part of that. */
void cargo_qprof_print_completion(FILE *out, enum cli_shell shell);

#endif /* QPROF_OPTIONS_CARGO_QPROF_H */
