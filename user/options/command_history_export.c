// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	{
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(history_export.output),
		.help = "Write to FILE, which must not exist. Without this option, and with -, to "
			"standard output.",
	},
	{
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(history_export.force),
		.help = "Overwrite the output file.",
	},
	HISTORY_STORE_OPTION(history_export.store),
	{},
};

static const struct cli_example examples[] = {
	{"Keep a copy", "qprof-bpf history export -o history.jsonl"},
	{},
};

const struct cli_command cli_history_export_command = {
	.name = "history export",
	.usage = "[OPTION...]",
	.summary = "Print all rows of a history as JSON lines",
	.text = "Prints each row of each build as one line of JSON. docs/history.md has the "
		"columns; "
		"qprof-bpf export -f jsonl prints those of one trace.",
	.options = options,
	.examples = examples,
};
