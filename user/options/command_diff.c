// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	{
		.name = "fail-above",
		.arg = "[WHAT=]LIMIT",
		.kind = CLI_GATES,
		.offset = AT(diff.gates),
		.help = "Exit with 1 if WHAT grew by more than LIMIT, a part of its former "
			"value (5%), a time (200ms) or a size (200MiB, of --metric peak), and by "
			"more than --min and noise. "
			"Without WHAT it is the whole build; otherwise QUERY, summed over "
			"all crates; CRATE/QUERY; or CRATE/*, all of a crate. Both are "
			"globs, and all matches are summed. May be given several times: any "
			"of them.",
	},
	{
		.name = "by",
		.arg = "WHAT",
		.kind = CLI_CHOICE,
		.offset = AT(diff.by),
		.choices = "both|query|item|pass|generic|instance",
		.initial = "both",
		.help = "What a row is: a query of a crate, or an item: a function, type or "
			"module, with all queries about it, paired by its path. Pass, generic and "
			"instance are CPU time in LLVM: by its pass, by function of the source "
			"with all its instances, and by instance. Both: a table of each but of "
			"instances, if the traces have them. With one of these alone, QUERY of "
			"--fail-above is a path, or the name of a pass.",
	},
	{
		.name = "metric",
		.arg = "METRIC",
		.kind = CLI_CHOICE,
		.offset = AT(diff.metric),
		.choices = "self|total|count|cpu|wall|peak|results",
		.initial = "self",
		.help = "What is compared: self, the time on the CPU without the queries it "
			"called; total, with them (for a "
			"crate, and for the build, the sum of the times that the compilers "
			"ran); count, executions. Of the build and of crates also: cpu, the CPU "
			"time of their compilers, without what recording added; wall, how long the "
			"build or a crate took; peak, "
			"the most memory that a compiler had resident; results, how many results "
			"of queries rustc made.",
	},
	{
		.name = "min",
		.arg = "DURATION|PERCENT",
		.kind = CLI_THRESHOLD,
		.offset = AT(diff.min),
		.initial = "5ms",
		.help = "Do not report times that change by less than this: 5ms, or 1% of "
			"the whole build. Executions are always reported.",
	},
	{
		.letter = 'n',
		.name = "top",
		.arg = "N",
		.kind = CLI_NUMBER,
		.offset = AT(diff.top),
		.initial = "10",
		.help = "Show only the N largest changes of each table; 0 shows all. JSON always "
			"has all.",
	},
	{
		.letter = 'w',
		.name = "wide",
		.kind = CLI_FLAG,
		.offset = AT(diff.wide),
		.help = WIDE_HELP,
	},
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(diff.json),
		.help = "Print one JSON document, schema qprof-diff/5.",
	},
	{
		.name = "schema",
		.kind = CLI_FLAG,
		.offset = AT(diff.schema),
		.help = "Print what each field of --json is, and its unit, instead.",
	},
	{
		.name = "markdown",
		.kind = CLI_FLAG,
		.offset = AT(diff.markdown),
		.help = "Print Markdown, for a CI summary or a comment on a pull request.",
	},
	PROCESS_OPTIONS(diff.of),
	NO_LIMITS_OPTION,
	{},
};

static const char about[] =
	"Compares two builds: wall time, CPU time and peak memory, then crate by crate, item "
	"by item, and query by query. Prints what changed by more than chance explains, the "
	"largest change first. "
	"BASE and NEW are each a trace, "
	"several traces of the same build separated by commas, or a directory: all its "
	"*.qpt. One word is one side, so that no order and no glob can mix them up. Needs no "
	"privileges.\n\n"
	"Compilers are paired by crate name and crate type; if several have the same, by "
	"command line, source file, or order. The medians of the two sides are compared. A "
	"change counts if it is at least --min, if it is larger than the range of each "
	"side's traces, and if those ranges do not meet. With fewer than five traces on a "
	"side, ranges say little: then noise is also estimated, from the queries that were "
	"executed equally often on both sides, and stated; a sum has to change by twice the "
	"noise, a single query by three times. If the noise is more than 50 %, only the largest "
	"changes are judged, and no time is if the builds are of different kinds (clean and "
	"incremental). Wall time has a verdict from three traces a side on.\n\n"
	"Times need three to five traces on each side, recorded in turns on one machine; "
	"with one on each side only large changes show. Executions need one trace: their "
	"number is the same in every clean build of the same source by the same compiler, so "
	"a limit on them does not fail by chance.\n\n"
	"With --fail-above the exit status is 1 if something grew by more than the limit, "
	"and 0 if not; the last line says so. It is 125 if there is no verdict: what is limited "
	"is not known on both sides, a trace is not whole, there is too much noise, what recording "
	"cost may explain a change or hide one, or a name is in none of the traces.";

static const struct cli_example examples[] = {
	{"What changed", "qprof-bpf diff before.qpt after.qpt"},
	{"Which functions and types take longer, all of them",
	 "qprof-bpf diff --top 0 --by item before.qpt after.qpt"},
	{"Fail if all crates together take over 5% longer",
	 "qprof-bpf diff --fail-above 5% a1.qpt,a2.qpt,a3.qpt b1.qpt,b2.qpt,b3.qpt"},
	{"Fail if there is more to do: no noise, one trace a side",
	 "qprof-bpf diff --metric count --fail-above 1% base.qpt new.qpt"},
	{"Watch a query, and those of one crate whose names begin with typ",
	 "qprof-bpf diff --fail-above typeck=10% --fail-above syn/typ*=1s base/ new/"},
	{"A summary for a pull request",
	 "qprof-bpf diff --markdown base/ new/ | tee -a summary.md"},
	{},
};

static int check_gate(const struct cli_gate *gate, unsigned int metric)
{
	static const char *const no_times[CLI_METRIC_RESULTS + 1] = {
		[CLI_METRIC_COUNT] = "count",
		[CLI_METRIC_PEAK] = "peak",
		[CLI_METRIC_RESULTS] = "results",
	};
	const char *no_time = no_times[metric];

	if (gate->limit.ns && no_time)
		return diag_error_r(-EINVAL,
				    "--fail-above '%s' is a time, but --metric %s "
				    "compares no times: give a percentage, such as 1%%",
				    gate->text, no_time);
	if (gate->limit_bytes && metric != CLI_METRIC_PEAK)
		return diag_error_r(-EINVAL,
				    "--fail-above '%s' is a size of memory, which only "
				    "--metric peak compares",
				    gate->text);
	if (gate->query && metric >= CLI_METRIC_WALL)
		return diag_error_r(
			-EINVAL,
			"--fail-above '%s' is a query, which has no wall time, no "
			"peak of memory and no number of results: name crates, as in 'syn/*=10%%'",
			gate->text);
	return 0;
}

static int check(const struct cli *cli)
{
	const struct cli_diff_options *o = &cli->diff;

	if (o->schema)
		return 0;
	if (!o->sides.n)
		return -ENODATA;
	if (o->sides.n != 2)
		return diag_error_r(-EINVAL,
				    "diff compares two sides, not %zu: several traces of one are "
				    "given as A1,A2,A3 or as a directory",
				    o->sides.n);
	if (o->json && o->markdown)
		return diag_error_r(-EINVAL, "--json and --markdown exclude each other");
	if (o->by == CLI_DIFF_BY_ITEM && o->metric == CLI_METRIC_TOTAL)
		return diag_error_r(-EINVAL, "an item has no total time, only the times of queries "
					     "about it: use --metric self or count");
	if (o->by >= CLI_DIFF_BY_PASS && o->metric != CLI_METRIC_SELF &&
	    o->metric != CLI_METRIC_CPU)
		return diag_error_r(-EINVAL, "what LLVM does is known by its CPU time alone: use "
					     "--metric self");
	for (size_t i = 0; i < o->gates.n; i++) {
		int err = check_gate(&o->gates.gates[i], o->metric);

		if (err)
			return err;
	}
	return 0;
}

const struct cli_command cli_diff_command = {
	.name = "diff",
	.usage = "[OPTION...] BASE NEW",
	.summary = "Compare two builds, and fail if one is slower",
	.text = about,
	.operand = {"BASE NEW", CLI_FILES, false, AT(diff.sides)},
	.options = options,
	.examples = examples,
	.check = check,
};
