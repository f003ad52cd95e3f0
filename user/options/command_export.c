// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "base/diag.h"
#include "options/command.h"

static const struct cli_option options[] = {
	PROCESS_OPTIONS(export.of),
	NO_LIMITS_OPTION,
	{
		.letter = 'f',
		.name = "format",
		.arg = "FORMAT",
		.kind = CLI_CHOICE,
		.offset = AT(export.format),
		.choices = "measureme|perfetto|folded|pprof|speedscope|counts|html|jsonl",
		.initial = "measureme",
		.help = "measureme: a directory with one .mm_profdata file per compiler, named as "
			"rustc -Zself-profile names them, for summarize, crox, flamegraph and the "
			"like. perfetto: every interval on a time axis. folded, pprof, "
			"speedscope: executions merged by their stacks, as folded lines, a "
			"profile for go tool pprof, or JSON. counts: a line "
			"\"query,count,seconds\" for "
			"each query. html: one page with all of it: a summary, the timeline, the "
			"trace of queries, tables and a flame graph; any browser opens it, "
			"offline. jsonl: the rows that a history keeps of a build, as JSON lines.",
	},
	{
		.letter = 'o',
		.name = "output",
		.arg = "OUT",
		.kind = CLI_FILE,
		.offset = AT(export.output),
		.initial = ".",
		.help = "Write to the file OUT, or with - to standard output; for measureme, "
			"into the directory OUT, which is created if needed.",
	},
	{
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(export.force),
		.help = "Overwrite files of the same name. Without this option nothing is "
			"written if one exists.",
	},
	{
		.name = "raw",
		.kind = CLI_FLAG,
		.offset = AT(export.raw),
		.help = "Keep the time that the probes took in the times, as report --raw "
			"does. perfetto and measureme always do.",
	},
	{
		.name = "keys",
		.kind = CLI_FLAG,
		.offset = AT(export.keys),
		.help = "With folded, pprof and speedscope: say what each query was about, "
			"as in typeck(app::main), so that stacks differ by it. The other "
			"formats but counts and jsonl always do.",
	},
	{
		.name = "by",
		.arg = "WHAT",
		.kind = CLI_CHOICE,
		.offset = AT(export.by),
		.choices = "query|item",
		.initial = "query",
		.help = "With folded, pprof and speedscope: what lies on what. By query: "
			"queries on their callers. By item: the crate, the modules and impls in "
			"it, the function or type, and the queries about it, with the times of "
			"report --by item.",
	},
	{
		.name = "wall",
		.kind = CLI_FLAG,
		.offset = AT(export.wall),
		.help = "With folded: the time off the CPU counts as well, such as that of "
			"waiting for LLVM; without this option, CPU time alone. pprof and "
			"speedscope hold both, and show the wall time first.",
	},
	{
		.name = "functions",
		.kind = CLI_FLAG,
		.offset = AT(export.functions),
		.help = "With folded, pprof and speedscope: stacks of the compiler's native "
			"functions, with the queries between them, by the samples of a recording "
			"with --sample. A trace that has samples and no interval is exported so "
			"without this option. html has them beside the intervals.",
	},
	{
		.name = "memory",
		.kind = CLI_FLAG,
		.offset = AT(export.memory),
		.help = "Like --functions, but by the memory that page faults made resident: of a "
			"recording with --memory.",
	},
	{
		.name = "waits",
		.kind = CLI_FLAG,
		.offset = AT(export.waits),
		.help = "Like --functions, but by the time that threads waited: of a recording "
			"with --off-cpu-stacks.",
	},
	{
		.name = "max-size",
		.arg = "SIZE",
		.kind = CLI_SIZE,
		.offset = AT(export.max_bytes),
		.initial = "512m",
		.help = "Write no more than this. In perfetto and html, whose "
			"viewers may not take more, the shortest intervals are left out, "
			"with a message; html never exceeds 96m, but with 0. The other formats "
			"stop with an error, measureme when all its files together are "
			"larger. With k, m or g as the unit; 0: no limit.",
	},
	{},
};

static const char about[] =
	"Writes a trace in another format, for other tools. Needs no privileges, and sends "
	"nothing anywhere; but the output holds paths and command lines.\n\n"
	"Names, process ids, threads, times and invocation ids are kept where a format has a "
	"place for them. What a format cannot hold is adjusted, with a message: measureme's "
	"intervals must nest and end within 78 hours of the start of their process, and "
	"compilers that executed no query have no file. docs/export.md lists where each "
	"format keeps what.";

static const struct cli_example examples[] = {
	{"A time axis, for ui.perfetto.dev",
	 "qprof-bpf export -f perfetto -o build.pftrace build.qpt"},
	{"Flame graphs, and all else, in a browser",
	 "qprof-bpf export -f html -o build.html build.qpt"},
	{"A flame graph as a picture",
	 "qprof-bpf export -f folded -o - x.qpt | inferno-flamegraph >x.svg"},
	{"Its stacks, in which each function's queries are frames of their own",
	 "qprof-bpf export -f folded --keys -o keys.folded build.qpt"},
	{"Stacks of modules, functions and types, for their own cost",
	 "qprof-bpf export -f folded --by item -o items.folded build.qpt"},
	{"For go tool pprof", "qprof-bpf export -f pprof -o build.pb.gz build.qpt"},
	{"The ten queries with the longest time",
	 "qprof-bpf export -f counts -o - build.qpt | head"},
	{"One .mm_profdata per compiler, in profiles/",
	 "qprof-bpf export -f measureme -o profiles build.qpt"},
	{"One crate in Perfetto", "qprof-bpf export -f perfetto --crate clap debug.qpt"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_export_options *o = &cli->export;
	bool stacks = o->format == CLI_FORMAT_FOLDED || o->format == CLI_FORMAT_PPROF ||
		      o->format == CLI_FORMAT_SPEEDSCOPE;
	int functions = o->functions + o->memory + o->waits;

	if ((o->keys || o->by == CLI_EXPORT_BY_ITEM) && !stacks)
		return diag_error_r(-EINVAL,
				    "%s is for stacks: use it with -f folded, pprof or "
				    "speedscope",
				    o->keys ? "--keys" : "--by item");
	if (functions && !stacks)
		return diag_error_r(
			-EINVAL, "--functions, --memory and --waits are for stacks: use them with "
				 "-f folded, pprof or speedscope; html has all samples");
	if (o->wall && (!stacks || o->memory || o->waits))
		return diag_error_r(-EINVAL, "--wall is for stacks of queries and for --functions: "
					     "use it with -f folded, pprof or speedscope");
	if (functions > 1)
		return diag_error_r(-EINVAL,
				    "--functions, --memory and --waits exclude each other");
	if (functions && (o->keys || o->by == CLI_EXPORT_BY_ITEM))
		return diag_error_r(-EINVAL, "sampled stacks have no keys and no items: leave out "
					     "--keys and --by item");
	if (o->keys && o->by == CLI_EXPORT_BY_ITEM)
		return diag_error_r(-EINVAL, "--keys is for stacks of queries, not for those of "
					     "--by item, which have items anyway");
	return 0;
}

const struct cli_command cli_export_command = {
	.name = "export",
	.usage = "[OPTION...] FILE",
	.summary = "Write a trace in another format",
	.text = about,
	.operand = {"FILE", CLI_FILE, true, AT(export.file)},
	.options = options,
	.examples = examples,
	.check = check,
};
