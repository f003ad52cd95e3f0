// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The table: its options. */
#include "cli/options.h"

#include "cli/commands.h"

#define N_OF(array) (sizeof(array) / sizeof(*(array)))
#define AT(field)   offsetof(struct cli, field)

#define WIDE_HELP                                                                                  \
	"Whole names and all columns, however wide. Without it a line has as many columns as the " \
	"terminal, or 80 where there is none."

#define QUERY_HELP                                                                               \
	"Only queries whose name matches GLOB, such as 'type*' or '*_of'. May be given several " \
	"times: any of them."

static const struct cli_option options[] = {
	{
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
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
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
		.name = "system",
		.kind = CLI_FLAG,
		.offset = AT(record.system),
		.help = "Profile every Rust compiler on the machine, whoever starts it, until "
			"Ctrl-C: for a host of CI jobs, or where a server such as sccache's runs "
			"the compilers.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
		.name = "cgroup",
		.arg = "DIR",
		.kind = CLI_FILE,
		.offset = AT(record.cgroup),
		.help = "The same, of a control group and those below it only: a service, a "
			"container. DIR is below /sys/fs/cgroup, or wherever version 2 is "
			"mounted.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
		.letter = 'o',
		.name = "output",
		.arg = "FILE",
		.kind = CLI_FILE,
		.offset = AT(record.output),
		.help = "Write the trace to FILE, which must not exist. Without this option it is "
			"qprof-<utc>.qpt in the current directory.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
		.letter = 'f',
		.name = "force",
		.kind = CLI_FLAG,
		.offset = AT(record.force),
		.help = "Overwrite the output file.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
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
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
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
		.name = "slow",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(record.slow_ns),
		.positive = true,
		.help = "Print a line to standard error for each interval that took this long or "
			"longer, as soon as it has ended: its name, how long it took, without "
			"what ran within it (self), and off the CPU; then the crate and process. "
			"One around it ends later, and so comes below. With --quiet and --json, "
			"too.",
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
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
		.name = "budget",
		.arg = "PERCENT",
		.kind = CLI_THRESHOLD,
		.offset = AT(record.budget),
		.positive = true,
		.help = "Let the probes take at most so much of the compilers' CPU time, such as "
			"5%. The hottest and shortest queries are then only counted, or watched "
			"now and then and estimated, and what was never met before and is no "
			"query is left out; reports mark and list them. Without it all is "
			"recorded, whatever that takes.",
	},
	{
		.commands = CLI_BIT(CLI_RECORD) | CLI_BIT(CLI_TOP),
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
		.name = "markdown",
		.kind = CLI_FLAG,
		.offset = AT(report.markdown),
		.help = "Print the report of a build in Markdown, for the summary of a CI.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(report.full),
		.help = "Every row and column of the report of a build, which otherwise fits a "
			"screen.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.letter = 'w',
		.name = "wide",
		.kind = CLI_FLAG,
		.offset = AT(report.wide),
		.help = WIDE_HELP,
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
			"all. In the report of a build, N rows in each table. Queries and "
			"processes of the JSON are always all.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "by",
		.arg = "WHAT",
		.kind = CLI_CHOICE,
		.offset = AT(report.by),
		.choices = "build|query|crate|process|thread",
		.first = CLI_BY_BUILD,
		.help = "What is shown: a build (crates, queries, passes, waiting), or one table, "
			"in which a row is a query, a crate... Without it a build if several "
			"crates were compiled and no other option is about rows, otherwise "
			"queries. In rows that are not queries, wall is the time from the "
			"first start to the last end of a query; of a thread, it is on-cpu, "
			"preempted (it could have run) and waiting together.",
	},
	{
		.commands = CLI_BIT(CLI_REPORT),
		.name = "sort",
		.arg = "COLUMN",
		.kind = CLI_CHOICE,
		.offset = AT(report.sort),
		.choices = "self|total|count|max|name|off|cpu",
		.initial = "self",
		.help = "The order of the rows, largest first; total is wall in rows that are not "
			"queries, off is off-cpu, and cpu is self without it: what threads worked, "
			"and not what they waited.",
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
		.letter = 'w',
		.name = "wide",
		.kind = CLI_FLAG,
		.offset = AT(diff.wide),
		.help = WIDE_HELP,
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
		.choices = "measureme|perfetto|chrome|folded|svg|pprof|speedscope|counts|html",
		.initial = "measureme",
		.help = "measureme: a directory with one .mm_profdata file per compiler, named as "
			"rustc -Zself-profile names them, for summarize, crox, flamegraph and the "
			"like. perfetto, chrome: every interval on a time axis, as a Perfetto "
			"trace or as JSON. folded, svg, pprof, speedscope: executions merged by "
			"their stacks, as folded lines, a flame graph for a browser, a profile "
			"for go tool pprof, or JSON. counts: a line \"query,count,seconds\" for "
			"each query. html: one page with all of it: the trace of queries, the "
			"timeline, tables and a flame graph; any browser opens it, offline.",
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
		.help = "Of perfetto, chrome and html: leave out the shortest intervals, and say "
			"so, if the file would get larger, which their viewers may not take; html "
			"gets no larger than 96m. With k, m or g as the unit; 0: as large as it "
			"gets.",
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
		.commands = CLI_BIT(CLI_STUCK),
		.letter = 'p',
		.name = "pid",
		.arg = "PID[,PID...]",
		.kind = CLI_PIDS,
		.offset = AT(stuck.pids),
		.help = "A compiler, or a process above some (cargo, make). May be given several "
			"times.",
	},
	{
		.commands = CLI_BIT(CLI_STUCK),
		.letter = 'i',
		.name = "interval",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(stuck.interval_ns),
		.initial = "1s",
		.help = "Look this often, and for the first time after so long: 500ms, 2s. From "
			"100ms to 1h.",
	},
	{
		.commands = CLI_BIT(CLI_STUCK),
		.name = "once",
		.kind = CLI_FLAG,
		.offset = AT(stuck.once),
		.help = "Look once, after the interval, and exit.",
	},
	{
		.commands = CLI_BIT(CLI_STUCK),
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(stuck.json),
		.help = "Print one JSON object per line and look, schema qprof-stuck/1.",
	},
	{
		.commands = CLI_BIT(CLI_STUCK),
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(stuck.full),
		.help = "Show all of a deep stack, and up to 64 functions of a thread.",
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

const struct cli_option *cli_options(size_t *n)
{
	*n = N_OF(options);
	return options;
}

bool cli_takes(enum cli_command_id id, const struct cli_option *option)
{
	return option->commands & CLI_BIT(id);
}
