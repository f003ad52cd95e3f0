// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	{
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(import.output),
		.help = "Write the trace to FILE, which must not exist. Without this option it has "
			"the name of the first profile, ending in .qpt, in the current directory.",
	},
	{
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(import.force),
		.help = "Overwrite the output file.",
	},
	{},
};

static const char about[] =
	"Makes one trace of profiles that rustc -Zself-profile wrote (.mm_profdata, version "
	"8 or 9), with one process for each. It also reads profiles that measureme's tools "
	"cannot read, because an argument has a quote or another character that is not plain "
	"ASCII, or because the compile failed or was killed. A name that is missing in the "
	"file becomes <unknown>; of a file that is cut short, all whole pages are read, with "
	"a warning. Needs no privileges.\n\n"
	"The report of an imported profile has, for every label, what measureme's summarize "
	"shows: count, time, self time, cache hits, and the time that executions were "
	"blocked, loaded or hashed. The arguments of queries (of the events, where they were "
	"recorded) are in the page of export -f html, in perfetto, and in dump.";

static const struct cli_example examples[] = {
	{"Look at a profile", "qprof-bpf import -o a.qpt regex_syntax-0004711.mm_profdata"},
	{"A whole build as one trace", "qprof-bpf import -o build.qpt profiles/*.mm_profdata"},
	{},
};

const struct cli_command cli_import_command = {
	.name = "import",
	.usage = "[OPTION...] PROFILE...",
	.summary = "Make a trace of rustc's own profiles",
	.text = about,
	.operand = {"PROFILE...", CLI_FILES, true, AT(import.files)},
	.options = options,
	.examples = examples,
};
