// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(report.json),
		.help = "Print one JSON document, schema qprof-report/3.",
	},
	{
		.name = "markdown",
		.kind = CLI_FLAG,
		.offset = AT(report.markdown),
		.help = "Print the report of a build in Markdown, for the summary of a CI.",
	},
	{
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(report.full),
		.help = "Every row and column of the report of a build, which otherwise fits a "
			"screen.",
	},
	{
		.letter = 'w',
		.name = "wide",
		.kind = CLI_FLAG,
		.offset = AT(report.wide),
		.help = WIDE_HELP,
	},
	{
		.name = "raw",
		.kind = CLI_FLAG,
		.offset = AT(report.raw),
		.help = "Show times as they were measured, including the time that the "
			"probes took.",
	},
	{
		.name = "cost",
		.kind = CLI_FLAG,
		.offset = AT(report.cost),
		.help = "Show what recording cost, part by part: CPU time, and its share of what "
			"the compilers used without it. JSON always has it.",
	},
	{
		.letter = 'n',
		.name = "top",
		.arg = "N",
		.kind = CLI_NUMBER,
		.offset = AT(report.top),
		.initial = "0",
		.help = "Show only the N queries with the most self time on the CPU, and N "
			"processes; 0 "
			"shows all. In the report of a build, N rows in each table. JSON "
			"always has all queries and processes.",
	},
	{
		.name = "by",
		.arg = "WHAT",
		.kind = CLI_CHOICE,
		.offset = AT(report.by),
		.choices = "build|query|item|module|macro|cgu|pass|generic|crate|process|thread",
		.first = CLI_BY_BUILD,
		.help = "What is shown: build (crates, items, queries, passes, waiting), or one "
			"table, whose rows are: query; item (a function, type or module of a "
			"crate, with the queries about it); module (the items of a module or "
			"impl, added up); macro (a procedural macro, with the crates that call "
			"it); cgu (a codegen unit, with the steps of its code generation); pass "
			"(a pass of LLVM, by samples); generic (a function that LLVM compiles, "
			"with all its instances, the crate that defines it and those that use "
			"it); crate; process; thread. Without it, a build, or what is known of "
			"the one crate that was compiled, if no other option is about rows; "
			"otherwise queries. In rows that are not queries, wall is the time from "
			"the first start to the last end of a query; for a thread, it is the sum "
			"of on-cpu, preempted (it could have run) and waiting.",
	},
	{
		.name = "sort",
		.arg = "COLUMN",
		.kind = CLI_CHOICE,
		.offset = AT(report.sort),
		.choices = "cpu|self|total|count|max|hits|name|off|instances",
		.initial = "cpu",
		.help = "The order of the rows, largest first: cpu is on-cpu, off is off-cpu, and "
			"self is their sum. total is wall in rows that are not queries. hits are "
			"results found in a query's cache, in rows of queries; instances those of "
			"a generic function, in rows of items and with --by generic.",
	},
	{
		.name = "min",
		.arg = "DURATION|PERCENT",
		.kind = CLI_THRESHOLD,
		.offset = AT(report.min),
		.help = "Leave out rows with less self time on the CPU than this: 10ms, or 1% of "
			"all.",
	},
	{
		.name = "query",
		.arg = "GLOB",
		.kind = CLI_TEXTS,
		.offset = AT(report.queries),
		.help = QUERY_HELP " Without --by, the items that the queries were about, the "
				   "crates and, if they were recorded, the callers follow.",
	},
	{
		.name = "llvm",
		.arg = "FUNCTION",
		.kind = CLI_TEXTS,
		.offset = AT(report.llvm),
		.help = "Show the passes of LLVM that compile a function, by samples: FUNCTION is "
			"its path, the end of it, its symbol, its item, or a GLOB for one of "
			"these. May be given several times: any of them.",
	},
	PROCESS_OPTIONS(report.of),
	{
		.name = "callers",
		.arg = "QUERY",
		.kind = CLI_TEXTS,
		.offset = AT(report.callers),
		.help = "Show the callers of the query, or of all that match a GLOB: a row is a "
			"function of the compiler, with the executions it asked for. Needs a "
			"trace recorded with --callers. May be given several times.",
	},
	{
		.name = "functions",
		.kind = CLI_FLAG,
		.offset = AT(report.functions),
		.help = "Show the native functions of the compiler that the samples of a recording "
			"with --sample are in: the parts of the compiler (its crates, LLVM, the "
			"allocator), and the functions with the most self time. With --query only "
			"what ran within these queries. With --memory or --waits, functions that "
			"touched memory or waited instead.",
	},
	{
		.name = "tree",
		.arg = "DIRECTION",
		.kind = CLI_CHOICE,
		.offset = AT(report.tree),
		.choices = "down|up",
		.first = CLI_TREE_DOWN,
		.help = "Show functions as a tree: down from callers, with the queries between "
			"them, to what they called, or up from the code that ran to its callers. "
			"Implies --functions.",
	},
	{
		.name = "own",
		.kind = CLI_FLAG,
		.offset = AT(report.own),
		.help = "With --functions and --query: leave out what ran in other queries that "
			"these called.",
	},
	{
		.name = "memory",
		.kind = CLI_FLAG,
		.offset = AT(report.memory),
		.help = "Show what made memory resident, by the page faults of a recording with "
			"--memory: crates of the build beside the peak of their compiler, queries, "
			"items, and parts of the compiler.",
	},
	{
		.name = "waits",
		.kind = CLI_FLAG,
		.offset = AT(report.waits),
		.help = "Show what threads waited for, by the stacks of a recording with "
			"--off-cpu-stacks: locks and messages, the jobserver, files, pages of "
			"memory; and where, by function and query.",
	},
	{
		.name = "schema",
		.kind = CLI_FLAG,
		.offset = AT(report.schema),
		.help = "Print the fields of --json instead, each with its unit.",
	},
	NO_LIMITS_OPTION,
	{},
};

static const char about[] =
	"Prints what a trace holds. If several crates were compiled, this is the report of a "
	"build: how long it took and how parallel it was; what threads waited for; what kept it "
	"from being faster; the crates that took longest, divided into front end, codegen and "
	"link; the functions, types and modules of your crates that cost most; the queries with "
	"the most self time on the CPU, over all crates and crate by crate; the passes; and what "
	"ran where a compiler was killed. It fits a screen; --full has every row.\n\n"
	"Of a single crate it begins with its time, its parts and its memory, and has ten "
	"queries.\n\n"
	"With --by query it lists every query of the trace: how often it was executed and how "
	"long that took, in total, without the queries it called (self), on average and at most. "
	"The processes follow, and what was lost while recording. The time that the probes took "
	"is subtracted, if their cost could be measured when the recording began. Where the "
	"recording knows when threads were on a CPU, self is split: on-cpu is work, and orders "
	"the rows; off-cpu is time in which the thread waited or other threads ran. Needs no "
	"privileges.";

static const struct cli_example examples[] = {
	{"A build, or one crate, on a screen", "qprof-bpf report debug.qpt"},
	{"All crates of a build, and all their queries", "qprof-bpf report --full debug.qpt"},
	{"For the summary of a CI", "qprof-bpf report --markdown debug.qpt"},
	{"The ten queries that cost most", "qprof-bpf report --by query --top 10 debug.qpt"},
	{"The functions, types and modules of a crate that cost most",
	 "qprof-bpf report --by item --top 20 debug.qpt"},
	{"The procedural macros of a build", "qprof-bpf report --by macro debug.qpt"},
	{"One crate of a build, and what kept it busy",
	 "qprof-bpf report --crate regex-syntax debug.qpt"},
	{"The functions that LLVM spends its time on, each with all its instances",
	 "qprof-bpf report --by generic --top 20 release.qpt"},
	{"What LLVM does with one of them", "qprof-bpf report --llvm parse_expr release.qpt"},
	{"Where crates differ", "qprof-bpf report --by crate --sort total debug.qpt"},
	{"Queries about types that take 1% or more",
	 "qprof-bpf report --query 'type*' --min 1% debug.qpt"},
	{"Callers of the query type_of", "qprof-bpf report --callers type_of debug.qpt"},
	{"The compiler's functions that typeck spends its time in",
	 "qprof-bpf report --functions --query typeck debug.qpt"},
	{"From the start of threads to where 2% or more of the time goes",
	 "qprof-bpf report --tree down --min 2% debug.qpt"},
	{"Crates and queries that touch most memory", "qprof-bpf report --memory debug.qpt"},
	{"For a program", "qprof-bpf report --json debug.qpt"},
	{"What each field of that is, and its unit", "qprof-bpf report --schema"},
	{},
};

/* Rows made of samples have no times of executions, and are no build. */
static int check_samples(const struct cli_report_options *o)
{
	bool functions = o->functions || o->tree;

	if (o->by || o->callers.n || o->llvm.n || o->markdown || o->full || o->raw)
		return diag_error_r(-EINVAL,
				    "--functions, --tree, --memory and --waits choose the rows: "
				    "leave out --by, --callers, --llvm, --markdown, --full and "
				    "--raw");
	if (o->memory && o->waits)
		return diag_error_r(-EINVAL, "--memory and --waits exclude each other");
	if (o->own && !o->queries.n)
		return diag_error_r(-EINVAL, "--own is about the queries of --query: name one");
	if (o->memory && !functions && o->queries.n)
		return diag_error_r(-EINVAL,
				    "--memory has rows of all queries: leave out --query, or "
				    "use it with --functions");
	if (o->memory && o->min.ns)
		return diag_error_r(-EINVAL,
				    "memory takes no time: give --min as a share, such as 1%%");
	if (o->sort > CLI_SORT_SELF && (o->sort != CLI_SORT_TOTAL || !functions || o->tree))
		return diag_error_r(-EINVAL,
				    "rows of samples are sorted by self; functions also by "
				    "--sort total");
	return 0;
}

/* LLVM has its own rows, which are made of samples. */
static int check_llvm(const struct cli_report_options *o)
{
	bool generic = o->by == CLI_BY_GENERIC;

	if (o->llvm.n && (o->by || o->callers.n || o->markdown || o->full))
		return diag_error_r(-EINVAL, "--llvm chooses the rows: leave out --by, --callers, "
					     "--markdown and --full");
	if (o->queries.n || o->callers.n)
		return diag_error_r(-EINVAL, "LLVM runs in no query: leave out --query and "
					     "--callers");
	if (o->sort > CLI_SORT_SELF && o->sort != CLI_SORT_NAME &&
	    !(generic && o->sort == CLI_SORT_INSTANCES))
		return diag_error_r(-EINVAL,
				    "rows of LLVM are sorted by self or name; with --by generic "
				    "also by --sort instances");
	return 0;
}

static int check(const struct cli *cli)
{
	const struct cli_report_options *o = &cli->report;
	bool rows =
		o->queries.n || o->callers.n || o->sort != CLI_SORT_CPU || o->min.ns || o->min.ppm;
	bool build = o->by == CLI_BY_BUILD || o->markdown || o->full;

	if (!o->file && !o->schema)
		return -ENODATA;
	if (o->own && !o->functions && !o->tree)
		return diag_error_r(-EINVAL, "--own is for --functions");
	if (o->schema && (o->functions || o->tree || o->memory || o->waits))
		return diag_error_r(
			-EINVAL, "--schema has the fields of report --json alone: leave out "
				 "--functions, --tree, --memory and --waits; docs/report.md lists "
				 "theirs");
	if (o->functions || o->tree || o->memory || o->waits)
		return check_samples(o);
	if (o->json && o->markdown)
		return diag_error_r(-EINVAL, "--json and --markdown exclude each other");
	if (build && (rows || o->by > CLI_BY_BUILD))
		return diag_error_r(-EINVAL,
				    "--by build, --markdown and --full are about the report of a "
				    "build: leave out other --by, --query, --callers, --sort and "
				    "--min");
	if (o->llvm.n || o->by == CLI_BY_PASS || o->by == CLI_BY_GENERIC)
		return check_llvm(o);
	if (o->queries.n && (o->by == CLI_BY_MACRO || o->by == CLI_BY_CGU))
		return diag_error_r(-EINVAL, "macros and codegen units are no queries: leave out "
					     "--query");
	if (o->sort == CLI_SORT_INSTANCES && o->by != CLI_BY_ITEM)
		return diag_error_r(-EINVAL, "--sort instances is for rows of items: use it with "
					     "--by item");
	if (o->sort == CLI_SORT_HITS && (o->by > CLI_BY_QUERY || o->callers.n))
		return diag_error_r(-EINVAL, "--sort hits is for rows of queries: leave out --by "
					     "and --callers");
	if (o->callers.n && (o->by > CLI_BY_QUERY || o->queries.n))
		return diag_error_r(-EINVAL, "--callers chooses the queries and the rows: "
					     "leave out --query and --by");
	return 0;
}

const struct cli_command cli_report_command = {
	.name = "report",
	.usage = "[OPTION...] FILE",
	.summary = "Print the times per query of a trace",
	.text = about,
	.operand = {"FILE", CLI_FILE, false, AT(report.file)},
	.options = options,
	.examples = examples,
	.check = check,
};
