/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_CLI_MAN_H
#define QPROF_CLI_MAN_H

#include <stdio.h>

/* The manual page qprof-bpf(1), as roff with the man macros, from the tables of cli/options.h. */
void cli_print_man(FILE *out);

#endif /* QPROF_CLI_MAN_H */
