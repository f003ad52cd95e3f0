// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

#include <errno.h>

#include "base/diag.h"

#define INTERVAL_LEAST 100000000ull /* each look stops threads */
#define INTERVAL_MOST  3600000000000ull

static const struct cli_option options[] = {
	{
		.letter = 'p',
		.name = "pid",
		.arg = "PID[,PID...]",
		.kind = CLI_PIDS,
		.offset = AT(stuck.pids),
		.help = "A compiler, or a process that started compilers (cargo, make). May "
			"be given several times.",
	},
	{
		.letter = 'i',
		.name = "interval",
		.arg = "DURATION",
		.kind = CLI_DURATION,
		.offset = AT(stuck.interval_ns),
		.initial = "1s",
		.help = "Look this often, for the first time after one interval: 500ms, 2s. "
			"From 100ms to 1h.",
	},
	{
		.name = "once",
		.kind = CLI_FLAG,
		.offset = AT(stuck.once),
		.help = "Look once, after the interval, and exit.",
	},
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(stuck.json),
		.help = "Print one JSON object per line and look, schema qprof-stuck/1.",
	},
	{
		.name = "full",
		.kind = CLI_FLAG,
		.offset = AT(stuck.full),
		.help = "Show all of a deep stack, and up to 64 functions of a thread.",
	},
	{},
};

static const char about[] =
	"For a compiler that seems to hang: shows which queries each of its threads is in "
	"right now, the outermost first, since when, and in which function; below it the "
	"linker that it waits for. For cargo, shows every compiler, or what cargo waits for "
	"instead, such as a build script. Looks again every second, until the process exits "
	"or Ctrl-C.\n\n"
	"Queries that a thread entered after qprof-bpf attached are exact. Earlier ones are "
	"read from its stack and shown with \"at least\": they have been running for longer. "
	"To read a stack, each thread is stopped, one at a time, usually for less "
	"than a millisecond; it continues even if qprof-bpf is killed meanwhile. Needs the "
	"rights of record, and those of a debugger (CAP_SYS_PTRACE, or the same user).";

static const struct cli_example examples[] = {
	{"What is that rustc doing?", "sudo qprof-bpf stuck -p 4711"},
	{"Each compiler of a running build, once; 4700 is cargo",
	 "sudo qprof-bpf stuck --once -p 4700"},
	{"For a program", "sudo qprof-bpf stuck --once --json -p 4711"},
	{},
};

static int check(const struct cli *cli)
{
	const struct cli_stuck_options *o = &cli->stuck;

	if (!o->pids.n)
		return -ENODATA;
	if (o->interval_ns < INTERVAL_LEAST || o->interval_ns > INTERVAL_MOST)
		return diag_error_r(-EINVAL, "--interval must be from 100ms to 1h");
	return 0;
}

const struct cli_command cli_stuck_command = {
	.name = "stuck",
	.usage = "[OPTION...] -p PID[,PID...]",
	.summary = "Show what a compiler that seems to hang is doing",
	.text = about,
	.needs_rights = true,
	.options = options,
	.examples = examples,
	.check = check,
};
