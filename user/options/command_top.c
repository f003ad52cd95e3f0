// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

static const struct cli_option options[] = {
	RECORDING_OPTIONS(top.record),
	RECORDING_SAMPLE_OPTIONS(top.record),
	RECORDING_COST_OPTIONS(top.record),
	NO_LIMITS_OPTION,
	{},
};

static const char about[] =
	"Shows what the compilers do while they do it: a table of processes, of queries, of "
	"items (what the queries were about), or of threads, on the whole terminal. Enter "
	"opens a process, Esc goes back; ? shows the keys.\n\n"
	"With -p, --system, --cgroup or a COMMAND, top records as record does, and leaves "
	"the same trace: everything that it shows can be reported later. The output of "
	"COMMAND is kept, and printed to stderr when the view is left; COMMAND has no "
	"terminal. q leaves the view: a recording of running processes ends then; a COMMAND "
	"continues to its end, and its exit status is passed on. Ctrl-C interrupts COMMAND.\n\n"
	"With FILE, top shows that trace, and follows it while it is still being written. "
	"Without FILE and without anything to record, it follows the one recording that runs "
	"on this machine; under sudo also another user's, if you may read its trace. The "
	"view is as fresh as that recording's --interval.\n\n"
	"The tables hold an interval once it has ended: they do not show a query that still "
	"runs. Items have names once their compiler has ended. Needs a terminal; NO_COLOR turns "
	"colours off. On a dumb terminal, and in a pipe with --interval, record prints blocks of "
	"lines.";

static const struct cli_example examples[] = {
	{"Watch a build from its first rustc to its last", "sudo qprof-bpf top -- cargo build"},
	{"Look into a running compiler or cargo", "sudo qprof-bpf top -p 4711"},
	{"Watch the recording that runs in another terminal", "sudo qprof-bpf top"},
	{"Browse a trace", "qprof-bpf top debug.qpt"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_record_options *o = &cli->top.record;
	bool records = cli_ways_to_record(o);

	if (records && cli->top.file)
		return diag_error_r(-EINVAL,
				    "%s is a trace to show: leave it out, or leave out what to "
				    "record",
				    cli->top.file);
	if (!records &&
	    (o->output || o->force || o->events.n || o->exact || o->no_sample || cli_samples(o)))
		return diag_error_r(-EINVAL, "--output, --force, --events, --exact and "
					     "samples are for a recording: name what to record");
	return cli_check_recording(o);
}

const struct cli_command cli_top_command = {
	.name = "top",
	.usage = "[OPTION...] [FILE | -p PID | -- COMMAND [ARG...]]",
	.summary = "Watch a recording on the whole terminal, and look into processes",
	.text = about,
	.operand = {"FILE", CLI_FILE, false, AT(top.file)},
	.command = AT(top.record.command),
	.needs_rights = true,
	.options = options,
	.examples = examples,
	.check = check,
};
