/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_CLI_PARSE_H
#define QPROF_CLI_PARSE_H

#include "base/cleanup.h"
#include "cli/options.h"

/*
 * Parse a command line by the tables of cli/options.h. 0, or -EINVAL or -ENOMEM after an error
 * line. argv may be permuted; `cli` points into it. What follows --help or --version
 * need not make sense.
 */
int cli_parse(int argc, char **argv, struct cli *cli);

void cli__clear(struct cli *cli);
#define _cli_ __cleanup(cli__clear)

#endif /* QPROF_CLI_PARSE_H */
