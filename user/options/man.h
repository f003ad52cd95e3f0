/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_OPTIONS_MAN_H
#define QPROF_OPTIONS_MAN_H

#include <stdio.h>

#include "options/options.h"

/*
 * Print the manual page of a command, as in qprof-bpf-report(1), or with CLI_N_COMMANDS the page
 * qprof-bpf(1). The format is roff with the man macros; the contents come from the tables of
 * options/options.h.
 */
void cli_print_man(FILE *out, enum cli_command_id id);

#endif /* QPROF_OPTIONS_MAN_H */
