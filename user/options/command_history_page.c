// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

static const struct cli_option options[] = {
	{
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(history_page.output),
		.help = "Write the page to FILE, which must not exist, or with - to standard "
			"output.",
	},
	{
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(history_page.force),
		.help = "Overwrite the output file.",
	},
	HISTORY_STORE_OPTION(history_page.store),
	HISTORY_BUILDS_OPTIONS(history_page.builds),
	{},
};

static const char about[] =
	"Writes a page for a browser: the trend of the build, of its crates and of their queries, "
	"with the commits at which they changed. It is one file, which loads nothing from "
	"elsewhere.";

static const struct cli_example examples[] = {
	{"The trends of main", "qprof-bpf history page --branch main -o trends.html"},
	{},
};

static int check(const struct cli *cli)
{
	return cli->history_page.output ? 0 : -ENODATA;
}

const struct cli_command cli_history_page_command = {
	.name = "history page",
	.usage = "[OPTION...] -o FILE",
	.summary = "Write a page of trends for a browser",
	.text = about,
	.options = options,
	.examples = examples,
	.check = check,
};
