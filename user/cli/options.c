// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/options.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/exit_code.h"

#define N_OF(array) (sizeof(array) / sizeof(*(array)))
#define AT(field)   offsetof(struct cli, field)

#define QUERY_HELP                                                                               \
	"Only queries whose name matches GLOB, such as 'type*' or '*_of'. May be given several " \
	"times: any of them."

static const struct cli_option options[] = {
	{
		.commands = CLI_BIT(CLI_RECORD),
		.letter = 'p',
		.name = "pid",
		.arg = "PID[,PID...]",
		.kind = CLI_PIDS,
		.offset = AT(record.pids),
		.help = "Profile a running process and every process it starts from now on. One "
			"that is not rustc itself (cargo, ninja, bazel, make) also brings the "
			"children it has. May be given several times.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(record.output),
		.help = "Write the trace to FILE, which must not exist. Without this option it is "
			"qprof-<utc>.qpt in the current directory.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(record.force),
		.help = "Overwrite the output file.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.letter = 'e',
		.name = "events",
		.arg = "LIST",
		.kind = CLI_TEXTS,
		.offset = AT(record.events),
		.help = "What to record, separated by commas, by rustc's names: query-provider, "
			"generic-activity, query-blocked, incr-cache-load, incr-result-hashing, "
			"all, none; passes (the activities that -Ztime-passes prints); or globs of "
			"labels. With a - before it, all but that; the last word that fits "
			"decides. default is passes, queries, loads, blocking, and activities but "
			"those that come in thousands: metadata_decode_*, mir_pass_* and "
			"incr_comp_encode_dep_graph. When the threads are off the CPU is recorded "
			"with any list, unless -off-cpu is in it. query-cache-hit, which is not in "
			"all, adds an "
			"instant for each result found in a cache: millions, at thousands of more "
			"probes, for small programs; if some are lost, --ring-size 256m helps.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.letter = 'i',
		.name = "interval",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(record.interval_ns),
		.initial = "1s",
		.help = "Show live counts this often: 500ms, 2s, 1m; a number without a unit is "
			"seconds. From 10ms to 1h.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(record.json),
		.help = "Show live counts as one JSON object per line and interval, schema "
			"qprof-live/1.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.letter = 'q',
		.name = "quiet",
		.kind = CLI_FLAG,
		.offset = AT(record.quiet),
		.help = "No live counts and no summary at the end; only errors are printed.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.name = "callers",
		.kind = CLI_FLAG,
		.offset = AT(record.callers),
		.help = "Also record who asks for each query, for \"report --callers\". A third "
			"probe per query: it takes about an eighth more CPU time than without.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.name = "ring-size",
		.arg = "SIZE",
		.kind = CLI_SIZE,
		.offset = AT(record.ring_bytes),
		.initial = "16m",
		.help = "Size of the buffer between the kernel and qprof-bpf: a power of two from "
			"a page (4k) to 1g, with k, m or g as the unit, or in bytes. A larger one "
			"helps when records are lost because it was full.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD),
		.name = "attach",
		.arg = "HOW",
		.kind = CLI_CHOICE,
		.offset = AT(record.attach),
		.choices = "auto|multi|perf",
		.initial = "auto",
		.help = "How probes are attached: multi (uprobe_multi links, Linux 6.6 and "
			"later), perf (one perf event per probe: works on older kernels, but "
			"takes long to detach), or auto (multi where the kernel has it).",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(report.json),
		.help = "Print one JSON document, schema qprof-report/1.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "raw",
		.kind = CLI_FLAG,
		.offset = AT(report.raw),
		.help = "Show times as they were measured, with what the probes took of them.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.letter = 'n',
		.name = "top",
		.arg = "N",
		.kind = CLI_NUMBER,
		.offset = AT(report.top),
		.initial = "0",
		.help = "Show only the N queries with the most self time, and N processes; 0 shows "
			"all. JSON always has all.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "by",
		.arg = "WHAT",
		.kind = CLI_CHOICE,
		.offset = AT(report.by),
		.choices = "query|crate|process|thread",
		.initial = "query",
		.help = "What a row is. In rows that are not queries, wall is the time from the "
			"first start to the last end of a query; of a thread, it is on-cpu, "
			"preempted (it could have run) and waiting together.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "sort",
		.arg = "COLUMN",
		.kind = CLI_CHOICE,
		.offset = AT(report.sort),
		.choices = "self|total|count|max|name|off",
		.initial = "self",
		.help = "The order of the rows, largest first; total is wall in rows that are not "
			"queries, off is off-cpu.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "min",
		.arg = "DURATION|PERCENT",
		.kind = CLI_THRESHOLD,
		.offset = AT(report.min),
		.help = "Leave out rows with less self time: less than 10ms, or than 1% of all.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "query",
		.arg = "GLOB",
		.kind = CLI_TEXTS,
		.offset = AT(report.queries),
		.help = QUERY_HELP,
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "callers",
		.arg = "QUERY",
		.kind = CLI_TEXTS,
		.offset = AT(report.callers),
		.help = "Show who asks for the query, or for all that match a GLOB: a row is a "
			"function of the compiler, with the executions it asked for. Needs a "
			"trace recorded with --callers. May be given several times.",
	},
	{
		.commands = CLI_BIT(CLI_DIFF),
		.name = "fail-above",
		.arg = "[WHAT=]LIMIT",
		.kind = CLI_GATES,
		.offset = AT(diff.gates),
		.help = "Exit with 1 if WHAT grew by more than LIMIT: a part of what it was (5%) "
			"or a time (200ms), and by more than --min and noise. WHAT is the whole "
			"build if it is left out; QUERY, summed over all crates; CRATE/QUERY; or "
			"CRATE/*, all of a crate. Both are globs, and what matches is summed. May "
			"be given several times: any of them.",
	},
	{
		.commands = CLI_BIT(CLI_DIFF),
		.name = "metric",
		.arg = "METRIC",
		.kind = CLI_CHOICE,
		.offset = AT(diff.metric),
		.choices = "self|total|count",
		.initial = "self",
		.help = "What is compared: self, the time without the queries it called and "
			"without waiting for another thread's; total, with them (of a crate, and "
			"of the build, how long the compilers ran, summed); count, executions.",
	},
	{
		.commands = CLI_BIT(CLI_DIFF),
		.name = "min",
		.arg = "DURATION|PERCENT",
		.kind = CLI_THRESHOLD,
		.offset = AT(diff.min),
		.initial = "5ms",
		.help = "Times that change by less are not reported: less than 5ms, or than 1% of "
			"the whole build. Executions are always reported.",
	},
	{
		.commands = CLI_BIT(CLI_DIFF),
		.letter = 'n',
		.name = "top",
		.arg = "N",
		.kind = CLI_NUMBER,
		.offset = AT(diff.top),
		.initial = "20",
		.help = "Show only the N largest changes; 0 shows all. JSON always has all.",
	},
	{
		.commands = CLI_BIT(CLI_DIFF),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(diff.json),
		.help = "Print one JSON document, schema qprof-diff/1.",
	},
	{
		.commands = CLI_BIT(CLI_DIFF),
		.name = "markdown",
		.kind = CLI_FLAG,
		.offset = AT(diff.markdown),
		.help = "Print Markdown, for a CI summary or a comment on a pull request.",
	},
	{
		.commands = CLI_BIT(CLI_DUMP),
		.name = "query",
		.arg = "GLOB",
		.kind = CLI_TEXTS,
		.offset = AT(dump.queries),
		.help = QUERY_HELP,
	},
	{
		.commands = CLI_BIT(CLI_DUMP),
		.name = "process",
		.arg = "PID|GLOB",
		.kind = CLI_TEXTS,
		.offset = AT(dump.processes),
		.help = "Only the process PID, or those that compile a crate whose name matches "
			"GLOB. May be given several times: any of them.",
	},
	{
		.commands = CLI_BIT(CLI_DUMP),
		.name = "from",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(dump.from_ns),
		.help = "Leave out spans that end before this time after the capture began.",
	},
	{
		.commands = CLI_BIT(CLI_DUMP),
		.name = "to",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(dump.to_ns),
		.help = "Leave out spans that start after this time after the capture began.",
	},
	{
		.commands = CLI_BIT(CLI_DUMP),
		.name = "schema",
		.kind = CLI_FLAG,
		.offset = AT(dump.schema),
		.help = "Print the JSON schema of the lines instead.",
	},
	{
		.commands = CLI_BIT(CLI_EXPORT),
		.letter = 'f',
		.name = "format",
		.arg = "FORMAT",
		.kind = CLI_CHOICE,
		.offset = AT(export.format),
		.choices = "measureme|perfetto|chrome|folded|svg|pprof|speedscope|counts",
		.initial = "measureme",
		.help = "measureme: a directory with one .mm_profdata file per compiler, named as "
			"rustc -Zself-profile names them, for summarize, crox, flamegraph and the "
			"like. perfetto, chrome: every interval on a time axis, as a Perfetto "
			"trace or as JSON. folded, svg, pprof, speedscope: executions merged by "
			"their stacks, as folded lines, a flame graph for a browser, a profile "
			"for go tool pprof, or JSON. counts: a line \"query,count,seconds\" for "
			"each query.",
	},
	{
		.commands = CLI_BIT(CLI_EXPORT),
		.letter = 'o',
		.name = "output",
		.arg = "OUT",
		.kind = CLI_FILE,
		.offset = AT(export.output),
		.initial = ".",
		.help = "Write to the file OUT, or with - to standard output; of measureme, into "
			"the directory OUT, which is made if it is not there.",
	},
	{
		.commands = CLI_BIT(CLI_EXPORT),
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(export.force),
		.help = "Overwrite files of the same name. Without this option nothing is written "
			"if there is one.",
	},
	{
		.commands = CLI_BIT(CLI_EXPORT),
		.name = "raw",
		.kind = CLI_FLAG,
		.offset = AT(export.raw),
		.help = "Leave in the times what our own probes took of them, as report --raw "
			"does. perfetto, chrome and measureme hold these times in any case.",
	},
	{
		.commands = CLI_BIT(CLI_EXPORT),
		.name = "max-size",
		.arg = "SIZE",
		.kind = CLI_SIZE,
		.offset = AT(export.max_bytes),
		.initial = "512m",
		.help = "Of perfetto and chrome: leave out the shortest intervals, and say so, if "
			"the file would get larger, which their viewers may not take. With k, m "
			"or g as the unit; 0: as large as it gets.",
	},
	{
		.commands = CLI_BIT(CLI_IMPORT),
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(import.output),
		.help = "Write the trace to FILE, which must not exist. Without this option it has "
			"the name of the first profile, ending in .qpt, in the current directory.",
	},
	{
		.commands = CLI_BIT(CLI_IMPORT),
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(import.force),
		.help = "Overwrite the output file.",
	},
	{
		.commands = CLI_BIT(CLI_PLAN),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(plan.json),
		.help = "Print the whole plan as one JSON document, schema qprof-plan/1.",
	},
	{
		.commands = CLI_BIT(CLI_PLAN),
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(plan.full),
		.help = "Also list every query and every probe site. -v does the same.",
	},
	{
		.commands = CLI_BIT(CLI_PLAN),
		.name = "no-cache",
		.kind = CLI_FLAG,
		.offset = AT(plan.no_cache),
		.help = "Read the library again, even if its plan is in the cache.",
	},
	{
		.commands = CLI_BIT(CLI_DOCTOR),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(doctor.json),
		.help = "Print one JSON document, schema qprof-doctor/1.",
	},
	{
		.commands = CLI_BIT(CLI_PCTAB),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(pctab.json),
		.help = "Print one JSON document, schema qprof-pctab/1.",
	},
	{
		.commands = CLI_BIT(CLI_PCTAB),
		.name = "no-timing",
		.kind = CLI_FLAG,
		.offset = AT(pctab.no_timing),
		.help = "Check and count only; no times.",
	},
	{
		.commands = CLI_BIT(CLI_HELP),
		.name = "man",
		.kind = CLI_FLAG,
		.offset = AT(help_options.man),
		.help = "Print the manual page qprof-bpf(1), or COMMAND's, as roff for man -l.",
	},
	{
		.commands = CLI_BIT(CLI_HELP),
		.name = "completion",
		.arg = "SHELL",
		.kind = CLI_CHOICE,
		.offset = AT(help_options.completion),
		.choices = "bash|zsh|fish",
		.first = CLI_SHELL_BASH,
		.help = "Print the completion script for SHELL.",
	},
	{
		.commands = CLI_ALL,
		.letter = 'v',
		.name = "verbose",
		.kind = CLI_COUNT,
		.offset = AT(verbose),
		.help = "Say what is being done; twice: also what libbpf says.",
	},
	{
		.commands = CLI_ALL,
		.letter = 'h',
		.name = "help",
		.kind = CLI_FLAG,
		.offset = AT(help),
		.help = "Print this help.",
	},
	{
		.commands = CLI_ALL,
		.letter = 'V',
		.name = "version",
		.kind = CLI_FLAG,
		.offset = AT(version),
		.help = "Print the version.",
	},
};

static int run_record(const struct cli *cli)
{
	return cmd_record(&cli->record);
}

static int run_report(const struct cli *cli)
{
	return cmd_report(&cli->report);
}

static int run_dump(const struct cli *cli)
{
	return cmd_dump(&cli->dump);
}

static int run_verify(const struct cli *cli)
{
	return cmd_verify(&cli->verify);
}

static int run_export(const struct cli *cli)
{
	return cmd_export(&cli->export);
}

static int run_import(const struct cli *cli)
{
	return cmd_import(&cli->import);
}

static int run_plan(const struct cli *cli)
{
	return cmd_plan(&cli->plan);
}

static int run_doctor(const struct cli *cli)
{
	return cmd_doctor(&cli->doctor);
}

static int run_pctab(const struct cli *cli)
{
	return cmd_pctab(&cli->pctab);
}

static int run_help(const struct cli *cli)
{
	return cmd_help(&cli->help_options);
}

static int run_version(const struct cli *cli)
{
	(void)cli;
	return cmd_version();
}

static const char about_record[] =
	"Attaches to the Rust compilers below a running process, or launches a command and "
	"attaches to every Rust compiler below it; shows live counts per query, writes a trace, "
	"and ends with a summary. The word record may be left out.\n\n"
	"Works on the toolchain that is installed, with no flag that would change what it builds. "
	"The command's exit status is passed on. Ctrl-C stops recording, writes the file and "
	"prints the summary; a second Ctrl-C aborts. Before recording has begun it ends qprof-bpf "
	"with status 128 plus the signal's number, and the command never runs.\n\n"
	"Recording needs root. Under sudo the command runs as the user who called sudo, and the "
	"trace belongs to that user. sudo clears most environment variables: give it "
	"--preserve-env=RUSTFLAGS,CARGO_TARGET_DIR (those that matter to the build) to keep them.";

static const struct cli_example record_examples[] = {
	{"Profile a build from its first rustc to its last", "sudo qprof-bpf -- cargo build"},
	{"See what a running build does, until Ctrl-C", "sudo qprof-bpf --pid 4711"},
	{"Keep the trace under a name, and say nothing while recording",
	 "sudo qprof-bpf -q -o debug.qpt -- cargo build --release"},
	{"Feed live counts to a program, twice a second",
	 "sudo qprof-bpf --json --interval 500ms -- make -j4"},
	{},
};

static const char about_report[] =
	"Prints, for every query in the trace, how often it was executed and how long that took: "
	"in all, without the queries it called (self), on average and at most; then the processes, "
	"and what was lost while recording. What the probes took of these times is taken off "
	"again, "
	"if its cost could be measured when the recording began. off-cpu is the part of self in "
	"which the thread was on no CPU: it waited, or others ran. Needs no privileges.";

static const struct cli_example report_examples[] = {
	{"The whole table", "qprof-bpf report debug.qpt"},
	{"The ten queries that cost most", "qprof-bpf report --top 10 debug.qpt"},
	{"Where crates differ", "qprof-bpf report --by crate --sort total debug.qpt"},
	{"Queries about types that take 1% or more",
	 "qprof-bpf report --query 'type*' --min 1% debug.qpt"},
	{"Who asks for types", "qprof-bpf report --callers type_of debug.qpt"},
	{"For a program", "qprof-bpf report --json debug.qpt"},
	{},
};

static const char about_dump[] =
	"Prints everything the trace holds, one JSON object a line: first a header (schema "
	"qprof-dump/1), then processes, threads, spans, costs and losses in the order in which "
	"they "
	"were written. Times are CLOCK_MONOTONIC nanoseconds; spans of a thread come in the order "
	"of their ends. Parts of the file that hold nothing of what is asked for are not read. "
	"Needs no privileges.";

static const struct cli_example dump_examples[] = {
	{"Every execution of typeck", "qprof-bpf dump --query typeck debug.qpt"},
	{"What one crate did in the second second",
	 "qprof-bpf dump --process serde --from 1s --to 2s debug.qpt"},
	{"What a line can be, for a program", "qprof-bpf dump --schema"},
	{},
};

static const char about_verify[] =
	"Reads all of a trace, checks its header, its index and every chunk of it (those of a "
	"later version by their checksums only), and tells what is sound and what is "
	"missing. Exits with 0 if the trace is whole, 1 if its end is missing (what there is can "
	"be "
	"read), 3 if it is damaged (what comes before the damage can be read).";

static const struct cli_example verify_examples[] = {
	{"Whether a trace is whole", "qprof-bpf verify debug.qpt"},
	{},
};

static const char about_export[] =
	"Writes a trace in another format, for other tools. Needs no privileges, and sends nothing "
	"anywhere; but what is written holds paths and command lines.\n\n"
	"Names, process ids, threads, times and invocation ids are kept where a format has a place "
	"for them. What it cannot hold is adjusted, and said: measureme's intervals must nest and "
	"end within 78 hours of their process' start, and compilers that executed no query have no "
	"file. docs/export.md tells what is where.";

static const struct cli_example export_examples[] = {
	{"A time axis, for ui.perfetto.dev",
	 "qprof-bpf export -f perfetto -o build.pftrace build.qpt"},
	{"A flame graph", "qprof-bpf export -f svg -o build.svg build.qpt"},
	{"For go tool pprof", "qprof-bpf export -f pprof -o build.pb.gz build.qpt"},
	{"The ten queries with the longest time",
	 "qprof-bpf export -f counts -o - build.qpt | head"},
	{"One .mm_profdata per compiler, in profiles/",
	 "qprof-bpf export -f measureme -o profiles build.qpt"},
	{},
};

static const char about_import[] =
	"Makes a trace of profiles that rustc -Zself-profile wrote (.mm_profdata, version 8 or 9), "
	"one process each: also of those that measureme's tools cannot read, because of an "
	"argument with a quote or another character that is not plain ASCII, or because the "
	"compile "
	"failed or was killed. A name that is not in the file becomes <unknown>; of a file "
	"that is cut short, all whole pages are taken, and a warning says so. Needs no "
	"privileges.\n\n"
	"The report of an imported profile has, for every label, what measureme's summarize shows: "
	"count, time, self time, cache hits, and the time that executions were blocked, loaded or "
	"hashed. Arguments of events (query keys) are not kept.";

static const struct cli_example import_examples[] = {
	{"Look at a profile", "qprof-bpf import -o a.qpt regex_syntax-0004711.mm_profdata"},
	{"A whole build as one trace", "qprof-bpf import -o build.qpt profiles/*.mm_profdata"},
	{},
};

static const char about_plan[] =
	"Reads a librustc_driver library, without running it, and tells which queries can be seen "
	"in it and at how many places. The library is FILE (or that of the rustc executable FILE), "
	"the one that process PID has mapped, or that of rustup's TOOLCHAIN; without any of them, "
	"that of the rustc which would run here. A file whose name is a number is written ./4711. "
	"Needs no privileges, except for other users' processes.";

static const struct cli_example plan_examples[] = {
	{"Whether the rustc in use here can be profiled", "qprof-bpf plan"},
	{"Another toolchain, with every query and site", "qprof-bpf plan --full +nightly"},
	{"The compiler in a running process", "qprof-bpf plan 4711"},
	{"For a program", "qprof-bpf plan --json"},
	{},
};

static const char about_doctor[] =
	"Tells whether recording works here, and what to do if it does not: tries what a recording "
	"needs of the kernel, looks at our capabilities and limits, and reads every Rust toolchain "
	"it finds (rustup's of the user and, under sudo, of root; those of the system; the one in "
	"the PATH), or just the one that is named as for plan. A line is ok, a note, or a "
	"problem, which comes with its fix. Run it the way you run record: with sudo, if you use "
	"that. Exits with 0 if recording works, 1 if there is a problem.";

static const struct cli_example doctor_examples[] = {
	{"Whether recording works here", "sudo qprof-bpf doctor"},
	{"Whether it works without root", "qprof-bpf doctor"},
	{"Whether it works with one toolchain, for a program",
	 "sudo qprof-bpf doctor --json +nightly"},
	{},
};

static const char about_pctab[] = "Reads every pc-value table (lines, files, stack depths, ...) of "
				  "an executable that Go 1.18 or "
				  "later built, encodes each one anew as varint deltas and with a "
				  "linear index, looks up every "
				  "pc of every table both ways, and fails if one of them is not "
				  "what it was. Prints the sizes "
				  "of both, and the time of a look-up in each, measured side by "
				  "side. FILE is not run. Needs no "
				  "privileges.";

static const struct cli_example pctab_examples[] = {
	{"What a linear index would cost and save the go command",
	 "qprof-bpf pctab /usr/lib/go-1.19/bin/go"},
	{"For a program", "qprof-bpf pctab --json /usr/lib/go-1.19/bin/go"},
	{},
};

static const struct cli_example help_examples[] = {
	{"Explain a command", "qprof-bpf help report"},
	{"Read a manual page that is not installed", "qprof-bpf help --man report | man -l -"},
	{"Print a completion script, to be sourced or installed",
	 "qprof-bpf help --completion bash"},
	{},
};

static const struct cli_example version_examples[] = {
	{"Print the version", "qprof-bpf version"},
	{},
};

static const struct cli_command record_command = {
	.name = "record",
	.usage = "[OPTION...] (-p PID[,PID...] | -- COMMAND [ARG...])",
	.summary = "Record where rustc spends its time, query by query (the default)",
	.text = about_record,
	.takes_command = true,
	.examples = record_examples,
	.run = run_record,
};

static const struct cli_command report_command = {
	.name = "report",
	.usage = "[OPTION...] FILE",
	.summary = "Print the times per query of a trace",
	.text = about_report,
	.operand = {"FILE", CLI_FILE, true, AT(report.file)},
	.examples = report_examples,
	.run = run_report,
};

static const struct cli_command dump_command = {
	.name = "dump",
	.usage = "[OPTION...] FILE",
	.summary = "Print every event of a trace as lines of JSON",
	.text = about_dump,
	.operand = {"FILE", CLI_FILE, false, AT(dump.file)},
	.examples = dump_examples,
	.run = run_dump,
};

static const struct cli_command verify_command = {
	.name = "verify",
	.usage = "[OPTION...] FILE",
	.summary = "Check that a trace is whole",
	.text = about_verify,
	.operand = {"FILE", CLI_FILE, true, AT(verify.file)},
	.examples = verify_examples,
	.run = run_verify,
};

static const struct cli_command export_command = {
	.name = "export",
	.usage = "[OPTION...] FILE",
	.summary = "Write a trace in another format",
	.text = about_export,
	.operand = {"FILE", CLI_FILE, true, AT(export.file)},
	.examples = export_examples,
	.run = run_export,
};

static const struct cli_command import_command = {
	.name = "import",
	.usage = "[OPTION...] PROFILE...",
	.summary = "Make a trace of rustc's own profiles",
	.text = about_import,
	.operand = {"PROFILE...", CLI_FILES, true, AT(import.files)},
	.examples = import_examples,
	.run = run_import,
};

static const struct cli_command plan_command = {
	.name = "plan",
	.usage = "[OPTION...] [FILE|PID|+TOOLCHAIN]",
	.summary = "Show what can be probed in a Rust compiler",
	.text = about_plan,
	.operand = {"FILE|PID|+TOOLCHAIN", CLI_FILE, false, AT(plan.target)},
	.examples = plan_examples,
	.run = run_plan,
};

static const struct cli_command doctor_command = {
	.name = "doctor",
	.usage = "[OPTION...] [FILE|PID|+TOOLCHAIN]",
	.summary = "Tell whether recording works here, and how to mend it",
	.text = about_doctor,
	.operand = {"FILE|PID|+TOOLCHAIN", CLI_FILE, false, AT(doctor.target)},
	.examples = doctor_examples,
	.run = run_doctor,
};

static const struct cli_command pctab_command = {
	.name = "pctab",
	.usage = "[OPTION...] FILE",
	.summary = "Compare two encodings of a Go executable's pc-value tables",
	.text = about_pctab,
	.operand = {"FILE", CLI_FILE, true, AT(pctab.file)},
	.examples = pctab_examples,
	.run = run_pctab,
};

static const struct cli_command help_command = {
	.name = "help",
	.usage = "[OPTION...] [COMMAND]",
	.summary = "Explain a command, or print the manual or shell completion",
	.text = "Without COMMAND, gives an overview. COMMAND --help is the same as help COMMAND.",
	.operand = {"COMMAND", CLI_COMMAND, false, AT(help_options.topic)},
	.examples = help_examples,
	.run = run_help,
};

static const struct cli_command version_command = {
	.name = "version",
	.usage = "[OPTION...]",
	.summary = "Print the version",
	.text = "The same as --version.",
	.examples = version_examples,
	.run = run_version,
};

static const struct cli_command *const commands[] = {
	[CLI_RECORD] = &record_command, [CLI_REPORT] = &report_command,
	[CLI_DIFF] = &cli_diff_command, [CLI_DUMP] = &dump_command,
	[CLI_VERIFY] = &verify_command, [CLI_EXPORT] = &export_command,
	[CLI_IMPORT] = &import_command, [CLI_PLAN] = &plan_command,
	[CLI_DOCTOR] = &doctor_command, [CLI_PCTAB] = &pctab_command,
	[CLI_HELP] = &help_command,	[CLI_VERSION] = &version_command,
};

_Static_assert(N_OF(commands) == CLI_N_COMMANDS, "every command has a row");

static const struct cli_exit_code exit_codes[] = {
	{EXIT_CODE_OK, "Success. record -p: recording was stopped, or every process ended."},
	{EXIT_CODE_INCOMPLETE, "verify: the end is missing. doctor: a problem. diff: a limit."},
	{EXIT_CODE_USAGE, "The command line makes no sense; nothing was done."},
	{EXIT_CODE_DAMAGED, "verify: the trace is damaged, or no trace."},
	{EXIT_CODE_FAILURE, "qprof-bpf itself failed; an error line says why and what to do."},
	{EXIT_CODE_CANNOT_RUN, "The command to profile cannot be run."},
	{EXIT_CODE_NOT_FOUND, "The command to profile was not found."},
};

const struct cli_command *cli_command(enum cli_command_id id)
{
	return commands[id];
}

enum cli_command_id cli_command_by_name(const char *name)
{
	enum cli_command_id id;

	for (id = 0; id < CLI_N_COMMANDS; id++) {
		if (!strcmp(commands[id]->name, name))
			break;
	}
	return id;
}

const struct cli_option *cli_options(size_t *n)
{
	*n = N_OF(options);
	return options;
}

bool cli_takes(enum cli_command_id id, const struct cli_option *option)
{
	return option->commands & CLI_BIT(id);
}

const struct cli_exit_code *cli_exit_codes(size_t *n)
{
	*n = N_OF(exit_codes);
	return exit_codes;
}
