/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_CLI_MAN_H
#define QPROF_CLI_MAN_H

#include <stdio.h>

#include "cli/options.h"

/*
 * The manual page of a command, qprof-bpf-report(1), or, for CLI_N_COMMANDS, of all, qprof-bpf(1):
 * as roff with the man macros, from the tables of cli/options.h.
 */
void cli_print_man(FILE *out, enum cli_command_id id);

#endif /* QPROF_CLI_MAN_H */
