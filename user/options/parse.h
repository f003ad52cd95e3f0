/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_OPTIONS_PARSE_H
#define QPROF_OPTIONS_PARSE_H

#include "base/cleanup.h"
#include "options/options.h"

/*
 * Parse a command line by the tables of options/options.h. 0, or -EINVAL or -ENOMEM after an error
 * line. argv may be permuted; `cli` points into it. The arguments after --help or --version need
 * not be valid.
 */
int cli_parse(int argc, char **argv, struct cli *cli);

void cli__clear(struct cli *cli);
#define _cli_ __cleanup(cli__clear)

#endif /* QPROF_OPTIONS_PARSE_H */
