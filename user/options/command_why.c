// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	NO_LIMITS_OPTION,
	{
		.name = "library",
		.arg = "FILE|PID|+TOOLCHAIN",
		.kind = CLI_FILE,
		.offset = AT(why.library),
		.help = "Take the plan of this librustc_driver, named as for plan, and not of the "
			"one at the path that the recording had of it.",
	},
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(why.json),
		.help = "Print one JSON document, schema qprof-why/1.",
	},
	{
		.name = "schema",
		.kind = CLI_FLAG,
		.offset = AT(why.schema),
		.help = "Print the fields of that document and their units instead.",
	},
	{},
};

static const char about[] =
	"Prints all that is known of the numbers of one query, for when one of them looks wrong. "
	"Of the trace: the executions of each compiler, and whether they were recorded one by "
	"one, read from the compiler's tables when it had executed all its queries, or are those "
	"of the last reading; how many samples its time is of; of how many executions it is not "
	"known what they were about, by cause; what was lost. Of the compiler's library, if it is "
	"at hand: what the plan found of the query, what it did not find and why, and its sites, "
	"with those that were attached for the events asked for.";

static const struct cli_example examples[] = {
	{"Where the count of typeck comes from", "qprof-bpf why typeck build.qpt"},
	{"With the toolchain of another machine",
	 "qprof-bpf why --library librustc_driver-1.so typeck build.qpt"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_why_options *o = &cli->why;

	if (!o->operands.n && !o->schema)
		return -ENODATA;
	if (o->operands.n != 2 && !o->schema)
		return diag_error_r(-EINVAL, "why takes a query and a trace");
	return 0;
}

const struct cli_command cli_why_command = {
	.name = "why",
	.usage = "[OPTION...] QUERY TRACE",
	.summary = "Show where a query's numbers come from",
	.text = about,
	.operand = {"QUERY TRACE", CLI_FILES, false, AT(why.operands)},
	.options = options,
	.examples = examples,
	.check = check,
};
