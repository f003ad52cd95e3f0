// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The table: its commands, and the exit statuses. */
#include <string.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/options.h"

#define N_OF(array) (sizeof(array) / sizeof(*(array)))
#define AT(field)   offsetof(struct cli, field)

static int run_record(const struct cli *cli)
{
	return cmd_record(&cli->record);
}

static int run_top(const struct cli *cli)
{
	return cmd_top(&cli->top, &cli->record);
}

static int run_report(const struct cli *cli)
{
	return cmd_report(&cli->report);
}

static int run_diff(const struct cli *cli)
{
	return cmd_diff(&cli->diff);
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

static int run_stuck(const struct cli *cli)
{
	return cmd_stuck(&cli->stuck);
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
	"Attaches to the Rust compilers below a running process, to all of the machine or of a "
	"control group, or launches a command and attaches to every Rust compiler below it; shows "
	"live counts per query, writes a trace, "
	"and ends with what report would print of it: the table of queries, or, where several "
	"crates were compiled, the report of a build. The word record may be left out.\n\n"
	"Works on the toolchain that is installed, with no flag that would change what it builds. "
	"The command's exit status is passed on. Ctrl-C stops recording, writes the file and "
	"prints the report; a second Ctrl-C aborts. Before recording has begun it ends qprof-bpf "
	"with status 128 plus the signal's number, and the command never runs.\n\n"
	"Recording needs root. Under sudo the command runs as the user who called sudo, and the "
	"trace belongs to that user. sudo clears most environment variables: give it "
	"--preserve-env=RUSTFLAGS,CARGO_TARGET_DIR (those that matter to the build) to keep them.";

static const struct cli_example record_examples[] = {
	{"Profile a build from its first rustc to its last", "sudo qprof-bpf -- cargo build"},
	{"See what a running build does, until Ctrl-C", "sudo qprof-bpf --pid 4711"},
	{"See what a service or a container compiles",
	 "sudo qprof-bpf --cgroup /sys/fs/cgroup/system.slice/ci.service"},
	{"Keep the trace under a name, and say nothing while recording",
	 "sudo qprof-bpf -q -o debug.qpt -- cargo build --release"},
	{"Feed live counts to a program, twice a second",
	 "sudo qprof-bpf --json --interval 500ms -- make -j4"},
	{"Only say what takes 100 milliseconds or more, as it happens",
	 "sudo qprof-bpf -q --slow 100ms -- cargo build"},
	{},
};

static const char about_top[] =
	"Shows what the compilers do while they do it: a table of processes, of queries, or of "
	"threads, on the whole terminal. Enter opens a process, Esc goes back; ? shows the "
	"keys.\n\n"
	"With -p, --system, --cgroup or a COMMAND it records as record does, and leaves the same "
	"trace: whatever is "
	"seen "
	"can be reported later. What COMMAND prints is kept, and printed to stderr when the view "
	"is "
	"left; COMMAND has no terminal. q leaves the view: a recording of what runs already ends "
	"then, "
	"a COMMAND goes on to its end, and its exit status is passed on. Ctrl-C interrupts "
	"COMMAND.\n\n"
	"With FILE it shows that trace, and follows it while it is still being written. With "
	"nothing "
	"it follows the one recording that runs on this machine; under sudo anybody's. What is "
	"seen "
	"is as fresh as that recording's --interval.\n\n"
	"An interval is known once it has ended: a query that still runs is not in the tables. "
	"Needs "
	"a terminal; NO_COLOR takes its colours away. For a pipe or a dumb terminal, record prints "
	"blocks of lines.";

static const struct cli_example top_examples[] = {
	{"Watch a build from its first rustc to its last", "sudo qprof-bpf top -- cargo build"},
	{"Look into a running compiler or cargo", "sudo qprof-bpf top -p 4711"},
	{"Watch the recording that runs in another terminal", "sudo qprof-bpf top"},
	{"Browse a trace", "qprof-bpf top debug.qpt"},
	{},
};

static const char about_report[] =
	"Prints what a trace says. If it has compiles of several crates, that is the report of a "
	"build: how long it took and how parallel it was; what threads waited for; the crates "
	"that took longest, divided into front end, codegen and link; the queries with the most "
	"self time, over all crates and crate by crate; the passes; and what ran where a compiler "
	"was killed. It fits a screen; --full has every row.\n\n"
	"Otherwise, and with --by query: for every query in the trace, how often it was executed "
	"and how long that took: in all, without the queries it called (self), on average and at "
	"most; then the processes, and what was lost while recording. What the probes took of "
	"these times is taken off again, if its cost could be measured when the recording began. "
	"off-cpu is the part of self in which the thread was on no CPU: it waited, or others ran. "
	"Needs no privileges.";

static const struct cli_example report_examples[] = {
	{"A build on a screen, or one crate's queries", "qprof-bpf report debug.qpt"},
	{"All crates of a build, and all their queries", "qprof-bpf report --full debug.qpt"},
	{"For the summary of a CI", "qprof-bpf report --markdown debug.qpt"},
	{"The ten queries that cost most", "qprof-bpf report --by query --top 10 debug.qpt"},
	{"Where crates differ", "qprof-bpf report --by crate --sort total debug.qpt"},
	{"Queries about types that take 1% or more",
	 "qprof-bpf report --query 'type*' --min 1% debug.qpt"},
	{"Who asks for types", "qprof-bpf report --callers type_of debug.qpt"},
	{"For a program", "qprof-bpf report --json debug.qpt"},
	{},
};

static const char about_diff[] =
	"Compares two builds, query by query and crate by crate, and prints what changed by more "
	"than chance explains, the largest change first. BASE and NEW are a trace each, several "
	"traces of the same build separated by commas, or a directory: all its *.qpt. One word is "
	"one side, so that no order and no glob can mix them up. Needs no privileges.\n\n"
	"Compilers are paired by crate name, crate type, and, if there are several of these, by "
	"command line, source file, or order. What is compared is the median of each side. A "
	"change counts if it is at least --min, more than the range of either side's traces, and "
	"those ranges do not meet. With fewer than five traces on a side ranges tell little: then "
	"noise is also estimated, from the queries that were executed equally often on both "
	"sides, and stated; a sum has to change by twice as much, a single query by thrice.\n\n"
	"Times need three to five traces a side, recorded in turns on one machine; with one a "
	"side only large changes show. Executions need one: their number is the same in every "
	"clean build of the same source by the same compiler, so that a limit on them does not "
	"fail by chance.\n\n"
	"With --fail-above the exit status is 1 if something grew by more than it allows, and 0 if "
	"not. Traces that are not whole do not pass, and a name that is in none of them is an "
	"error: 125.";

static const struct cli_example diff_examples[] = {
	{"What changed", "qprof-bpf diff before.qpt after.qpt"},
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
	"hashed. What its queries were asked for (the arguments of its events, where they were "
	"recorded) is in the page of export -f html, in perfetto and chrome, and in dump.";

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

static const char about_stuck[] =
	"For a compiler that seems to hang: which queries each of its threads is in right now, the "
	"outermost first, since when, and in which function; below it the linker it waits for. Of "
	"cargo, every compiler, or what it waits for instead, such as a build script. Looks again "
	"every second, until the process exits or Ctrl-C.\n\n"
	"What a thread entered since qprof-bpf attached is told exactly. What it entered before is "
	"read from its stack, and marked with >: it has been going on for longer than that. "
	"For this each thread is stopped for less than a millisecond as a rule, one "
	"at a time; it goes on even if qprof-bpf is killed meanwhile. Needs the rights of record, "
	"and "
	"those of a debugger (CAP_SYS_PTRACE, or the same user).";

static const struct cli_example stuck_examples[] = {
	{"What is that rustc doing?", "sudo qprof-bpf stuck -p 4711"},
	{"Each compiler of a running build, once; 4700 is cargo",
	 "sudo qprof-bpf stuck --once -p 4700"},
	{"For a program", "sudo qprof-bpf stuck --once --json -p 4711"},
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
	.usage = "[OPTION...] (-p PID | --system | -- COMMAND [ARG...])",
	.summary = "Record where rustc spends its time, query by query (the default)",
	.text = about_record,
	.takes_command = true,
	.examples = record_examples,
	.run = run_record,
};

static const struct cli_command top_command = {
	.name = "top",
	.usage = "[OPTION...] [FILE | -p PID | -- COMMAND [ARG...]]",
	.summary = "Watch a recording on the whole terminal, and look into processes",
	.text = about_top,
	.operand = {"FILE", CLI_FILE, false, AT(top.file)},
	.takes_command = true,
	.examples = top_examples,
	.run = run_top,
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

static const struct cli_command diff_command = {
	.name = "diff",
	.usage = "[OPTION...] BASE NEW",
	.summary = "Compare two builds, and fail if one is slower",
	.text = about_diff,
	.operand = {"BASE NEW", CLI_FILES, true, AT(diff.sides)},
	.examples = diff_examples,
	.run = run_diff,
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

static const struct cli_command stuck_command = {
	.name = "stuck",
	.usage = "[OPTION...] -p PID[,PID...]",
	.summary = "Tell what a compiler that seems to hang is doing",
	.text = about_stuck,
	.examples = stuck_examples,
	.run = run_stuck,
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
	[CLI_TOP] = &top_command,	[CLI_RECORD] = &record_command,
	[CLI_REPORT] = &report_command, [CLI_DIFF] = &diff_command,
	[CLI_DUMP] = &dump_command,	[CLI_VERIFY] = &verify_command,
	[CLI_EXPORT] = &export_command, [CLI_IMPORT] = &import_command,
	[CLI_PLAN] = &plan_command,	[CLI_DOCTOR] = &doctor_command,
	[CLI_STUCK] = &stuck_command,	[CLI_PCTAB] = &pctab_command,
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

const struct cli_exit_code *cli_exit_codes(size_t *n)
{
	*n = N_OF(exit_codes);
	return exit_codes;
}
