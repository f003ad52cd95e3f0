/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_OPTIONS_COMPLETION_H
#define QPROF_OPTIONS_COMPLETION_H

#include <stdio.h>

#include "options/options.h"

/* The completion script for a shell, from the tables of options/options.h. Not CLI_SHELL_NONE. */
void cli_print_completion(FILE *out, enum cli_shell shell);

#endif /* QPROF_OPTIONS_COMPLETION_H */
