// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(plan.json),
		.help = "Print the whole plan as one JSON document, schema qprof-plan/1.",
	},
	{
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(plan.full),
		.help = "Also list every query and every probe site. -v does the same.",
	},
	{
		.name = "no-cache",
		.kind = CLI_FLAG,
		.offset = AT(plan.no_cache),
		.help = "Read the library again, even if its plan is in the cache.",
	},
	{
		.name = "output",
		.letter = 'o',
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(plan.output),
		.help = "Also write all that a recording needs of the library to FILE, which must "
			"not exist, for --import on another machine or in another image.",
	},
	{
		.name = "import",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(plan.import),
		.help = "Take the plan from FILE, which plan --output has written for the same "
			"library, prove it, and keep it, so that the first recording does not have "
			"to make it. In a root login it is kept for all recordings, else for "
			"yours without root. Nobody else may be able to write to FILE.",
	},
	{},
};

static const char about[] =
	"Reads a librustc_driver library, without running it, and prints which queries can "
	"be probed in it, and at how many places. The library is FILE (or that of the rustc "
	"executable FILE), the one that process PID has mapped, or that of rustup's "
	"TOOLCHAIN; without any of them, that of the rustc which would run here. A file "
	"whose name is a number is written ./4711. Needs no privileges, except for other "
	"users' processes: these need a root login, as under sudo plan has no more rights "
	"than you.";

static const struct cli_example examples[] = {
	{"Whether the rustc in use here can be profiled", "qprof-bpf plan"},
	{"Another toolchain, with every query and site", "qprof-bpf plan --full +nightly"},
	{"The compiler in a running process", "qprof-bpf plan 4711"},
	{"For a program", "qprof-bpf plan --json"},
	{"Keep the plan of an image's toolchain", "qprof-bpf plan --output /opt/rustc.plan"},
	{"Use it, as root", "qprof-bpf plan --import /opt/rustc.plan"},
	{},
};

const struct cli_command cli_plan_command = {
	.name = "plan",
	.usage = "[OPTION...] [FILE|PID|+TOOLCHAIN]",
	.summary = "Show what can be probed in a Rust compiler",
	.text = about,
	.operand = {"FILE|PID|+TOOLCHAIN", CLI_FILE, false, AT(plan.target)},
	.options = options,
	.examples = examples,
};
