// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	NO_LIMITS_OPTION,
	{
		.name = "query",
		.arg = "GLOB",
		.kind = CLI_TEXTS,
		.offset = AT(dump.queries),
		.help = QUERY_HELP,
	},
	PROCESS_OPTIONS(dump.of),
	{
		.name = "from",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(dump.from_ns),
		.help = "Leave out spans that end before this time after the capture began.",
	},
	{
		.name = "to",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(dump.to_ns),
		.help = "Leave out spans that start after this time after the capture began.",
	},
	{
		.name = "schema",
		.kind = CLI_FLAG,
		.offset = AT(dump.schema),
		.help = "Print the JSON schema of the lines instead.",
	},
	{},
};

static const char about[] =
	"Prints everything that the trace holds, one JSON object per line: first a header "
	"(schema qprof-dump/2), then processes, threads, spans, samples, costs and losses in the "
	"order in which they were written. Times are CLOCK_MONOTONIC nanoseconds; the spans "
	"of a thread are in the order of their ends. Parts of the file that hold nothing "
	"that was asked for are not read. Needs no privileges.";

static const struct cli_example examples[] = {
	{"Every execution of typeck, of a recording with --exact",
	 "qprof-bpf dump --query typeck exact.qpt"},
	{"What one crate did in the second second",
	 "qprof-bpf dump --process serde --from 1s --to 2s debug.qpt"},
	{"What a line can be, for a program", "qprof-bpf dump --schema"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_dump_options *o = &cli->dump;

	if (!o->file && !o->schema)
		return -ENODATA;
	if (o->to_ns < o->from_ns)
		return diag_error_r(-EINVAL, "--to is before --from");
	return 0;
}

const struct cli_command cli_dump_command = {
	.name = "dump",
	.usage = "[OPTION...] FILE",
	.summary = "Print every event of a trace as lines of JSON",
	.text = about,
	.operand = {"FILE", CLI_FILE, false, AT(dump.file)},
	.options = options,
	.examples = examples,
	.check = check,
};
