// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * go_tables [--json] [--no-timing] FILE: compare two encodings of pc-value tables (docs/pctab.md).
 *
 * Reads every pc-value table (lines, files, stack depths, ...) of an executable that Go 1.18 or
 * later built, encodes each one as varint deltas and with a linear index, looks up every pc of
 * every table both ways, and fails if any value differs. Prints the sizes of both encodings, and
 * the time of a look-up in each, measured side by side. Does not run FILE, needs no privileges.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

static int usage(void)
{
	fputs("usage: go_tables [--json] [--no-timing] FILE\n", stderr);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"no-timing", no_argument, NULL, 'n'},
		{},
	};
	struct pctab_compare_options o = {};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'j')
			o.json = true;
		else if (c == 'n')
			o.no_timing = true;
		else
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	o.file = argv[optind];
	return pctab_compare(&o);
}
