// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>
#include <unistd.h>

#include "base/diag.h"

#define INTERVAL_LEAST 10000000ull
#define INTERVAL_MOST  3600000000000ull
#define RING_MOST      (1ull << 30)
#define HZ_MOST	       10000u
#define FAULTS_MOST    1000000u

static const struct cli_option options[] = {
	RECORDING_OPTIONS(record),
	{
		.name = "traces",
		.arg = "DIR",
		.kind = CLI_FILE,
		.offset = AT(record.traces),
		.help = "With --system or --cgroup: write a trace for each build into DIR, which "
			"nobody else may write to. A build is what runs below the topmost cargo; "
			"without cargo, what one session of a user runs.",
	},
	{
		.name = "rotate",
		.arg = "LIMIT",
		.kind = CLI_LIMITS,
		.offset = AT(record.rotate),
		.help = "With --traces: a build whose trace is older than a time (90s, 30min, 1h) "
			"or larger than a size (256m) gets another one. The compilers that run "
			"are recorded in the first to their end, those that start later in the "
			"next. May be given twice: a time and a size.",
	},
	{
		.name = "keep",
		.arg = "LIMIT",
		.kind = CLI_LIMITS,
		.offset = AT(record.keep),
		.help = "With --traces: remove traces that are older than a time (7d), or when "
			"all of them are larger than a size (10g), the oldest of the user who has "
			"the most. A trace that alone does not fit is not continued. May be given "
			"twice: a time and a size.",
	},
	{
		.name = "history",
		.kind = CLI_FLAG,
		.offset = AT(record.history),
		.help = "When the recording has ended, add the build to a history, as history add "
			"does. If that fails, a line says why; the exit status stays.",
	},
	HISTORY_STORE_OPTION(record.store),
	HISTORY_LABEL_OPTION(record.label),
	{
		.name = "with-commands",
		.kind = CLI_FLAG,
		.offset = AT(record.with_commands),
		.help = "Keep the command that is recorded in the trace, and with --history in the "
			"history. It may hold paths, names and secrets, so by default neither has "
			"it.",
	},
	{
		.name = "slow",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(record.slow_ns),
		.positive = true,
		.help = "Print a line to standard error for each interval that took this "
			"long or longer, soon after it has ended: its name, how long it took, "
			"the same without what ran within it (self), and off the CPU; then the "
			"crate and process. Of intervals within each other it is the innermost "
			"that explains the time: at least half of it is in none that a line was "
			"printed about. Queries are seen by samples: from the first to the last "
			"of an execution. With less than two periods of these (7.97ms), and no "
			"--events, all queries have probes, as with --exact. Also with --quiet "
			"and --json.",
	},
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(record.json),
		.help = "Show live counts, and what the running compilers are in, as one JSON "
			"object per line and interval, schema qprof-live/2.",
	},
	{
		.letter = 'q',
		.name = "quiet",
		.kind = CLI_FLAG,
		.offset = AT(record.quiet),
		.help = "No live counts and no summary at the end; only errors are printed.",
	},
	{
		.name = "until-run",
		.kind = CLI_FLAG,
		.offset = AT(record.until_run),
		.help = "With cargo as the command: end the recording when cargo run executes the "
			"program that it has built. The program goes on, and its status is passed "
			"on.",
	},
	{
		.name = "callers",
		.kind = CLI_FLAG,
		.offset = AT(record.callers),
		.help = "Also record the callers of each query, for \"report --callers\". Needs "
			"a third probe per query: takes about an eighth more CPU time.",
	},
	{
		.name = "no-keys",
		.kind = CLI_FLAG,
		.offset = AT(record.no_keys),
		.help = "Do not record what queries and activities were about: functions, types "
			"and modules, which report --by item shows, macros and codegen units.",
	},
	RECORDING_SAMPLE_OPTIONS(record),
	RECORDING_COST_OPTIONS(record),
	{
		.name = "attach",
		.arg = "HOW",
		.kind = CLI_CHOICE,
		.offset = AT(record.attach),
		.choices = "auto|multi|perf|read",
		.initial = "auto",
		.help = "How probes are attached: multi (uprobe_multi links, Linux 6.6 and "
			"later), perf (one perf event per probe: works on older kernels, but "
			"takes long to detach), read (there are none: compilers are read from "
			"outside, as without privileges), or auto (multi where the kernel has it).",
	},
	{},
};

static const char about[] =
	"Attaches to every Rust compiler that a command starts, that runs below a process, "
	"or that runs on the machine or in a control group. Shows live counts per query on a "
	"terminal, writes a trace, and ends with the report of the build, or of the one crate. "
	"The word record may be left out.\n\n"
	"How often each query was executed is read from the compiler's own tables, and is exact. "
	"Times of queries are from samples, with their error. --exact records each execution of "
	"each query instead, which takes up to several times the CPU time.\n\n"
	"Works on the installed toolchain, with no flag that would change what it builds. "
	"The command's exit status is passed on. If it is 0, but more than half of the "
	"intervals or of the compilers were lost, or nothing was recorded of the crates that "
	"were compiled, the status is 122, and an error line says why. Ctrl-C stops the "
	"recording, writes the file and prints the report; a second Ctrl-C aborts. Before "
	"the recording has begun, Ctrl-C ends qprof-bpf with status 128 plus the signal's "
	"number, and the command never runs.\n\n"
	"Recording takes root, or two capabilities. Without them a command, and your own "
	"processes, are read from outside: counts, and times of queries and items, but no stacks. "
	"Under sudo the command runs as the user who called sudo, and the trace belongs to that "
	"user. sudo clears most environment variables; "
	"--preserve-env=RUSTFLAGS,CARGO_TARGET_DIR (those that matter to the build) keeps "
	"them.";

static const struct cli_example examples[] = {
	{"Profile a build from its first rustc to its last", "sudo qprof-bpf -- cargo build"},
	{"See what a running build does, until Ctrl-C", "sudo qprof-bpf --pid 4711"},
	{"See what a service or a container compiles",
	 "sudo qprof-bpf --cgroup /sys/fs/cgroup/system.slice/ci.service"},
	{"Name the trace, and print nothing while recording",
	 "sudo qprof-bpf -q -o debug.qpt -- cargo build --release"},
	{"Keep the numbers of the build, to see later since which commit it is slower",
	 "sudo qprof-bpf --history -- cargo build"},
	{"Record each execution of every query, whatever it costs",
	 "sudo qprof-bpf --exact -- cargo build"},
	{"Only take samples: no breakpoint in any compiler",
	 "sudo qprof-bpf -e none -- cargo build"},
	{"Send live counts to a program, twice a second",
	 "sudo qprof-bpf --json --interval 500ms -- make -j4"},
	{"Print only what takes 100 milliseconds or more, as it happens",
	 "sudo qprof-bpf -q --slow 100ms -- cargo build"},
	{},
};

int cli_check_recording(const struct cli_record_options *o)
{
	if (cli_ways_to_record(o) > 1)
		return diag_error_r(-EINVAL, "--pid, --system, --cgroup and a command exclude each "
					     "other: record one of them");
	if (o->attach == CLI_ATTACH_READ &&
	    (o->exact || o->callers || o->events.n || cli_samples(o) || o->no_sample ||
	     o->slow_ns || o->system || o->cgroup))
		return diag_error_r(-EINVAL,
				    "--attach read takes no other probes or samples, and only a "
				    "command or --pid: see docs/outside.md");
	if (o->traces && !o->system && !o->cgroup)
		return diag_error_r(-EINVAL,
				    "--traces takes --system or --cgroup: one build has one "
				    "trace, see --output");
	if (o->traces && (o->output || o->force))
		return diag_error_r(-EINVAL, "--traces names its traces: leave out --output and "
					     "--force");
	if (o->until_run && !o->command)
		return diag_error_r(-EINVAL, "--until-run takes a command: -- cargo run");
	if (!o->traces && (o->rotate.ns || o->rotate.bytes || o->keep.ns || o->keep.bytes))
		return diag_error_r(-EINVAL, "--rotate and --keep take --traces");
	if (!o->history && (o->store || o->label))
		return diag_error_r(-EINVAL, "--store and --label take --history");
	if (cli_interval_ns(o) < INTERVAL_LEAST || o->interval_ns > INTERVAL_MOST)
		return diag_error_r(-EINVAL, "--interval must be from 10ms to 1h");
	if (o->sample_hz > HZ_MOST)
		return diag_error_r(-EINVAL, "--sample must be from 1 to %u samples a second",
				    HZ_MOST);
	if (o->sample_hz && o->no_sample)
		return diag_error_r(-EINVAL, "--sample and --no-sample exclude each other");
	if (o->fault_period > FAULTS_MOST)
		return diag_error_r(-EINVAL, "--memory must be from 1 to %u page faults",
				    FAULTS_MOST);
	if (o->light_period > FAULTS_MOST)
		return diag_error_r(-EINVAL, "--memory-light must be from 1 to %u page faults",
				    FAULTS_MOST);
	if (o->fault_period && o->light_period)
		return diag_error_r(-EINVAL, "--memory and --memory-light exclude each other: "
					     "record stacks, or only queries and functions");
	if (o->ring_bytes & (o->ring_bytes - 1) || o->ring_bytes > RING_MOST ||
	    o->ring_bytes < (uint64_t)sysconf(_SC_PAGESIZE))
		return diag_error_r(-EINVAL,
				    "--ring-size must be a power of two from %ld (a page) "
				    "to 1g, such as 64m",
				    sysconf(_SC_PAGESIZE));
	return 0;
}

static int check(const struct cli *cli)
{
	return cli_ways_to_record(&cli->record) ? cli_check_recording(&cli->record) : -ENODATA;
}

const struct cli_command cli_record_command = {
	.name = "record",
	.usage = "[OPTION...] (-p PID | --system | -- COMMAND [ARG...])",
	.summary = "Record where rustc spends its time, query by query (the default)",
	.text = about,
	.command = AT(record.command),
	.needs_rights = true,
	.options = options,
	.examples = examples,
	.check = check,
};
