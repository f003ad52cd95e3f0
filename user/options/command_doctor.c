// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	{
		.name = "json",
		.kind = CLI_FLAG,
		.offset = AT(doctor.json),
		.help = "Print one JSON document, schema qprof-doctor/1.",
	},
	{},
};

static const char about[] =
	"Checks whether recording works here, and prints what to do if it does not. It tries "
	"what a recording needs from the kernel, reads our capabilities and limits, and "
	"reads every Rust toolchain that it finds (the user's in rustup; those of the "
	"system; the one in the PATH), or only the one that is named as for plan; also under "
	"sudo it reads only what the user may read. A line is ok, a note, or a problem, "
	"which comes with its fix. Run it the way you run record: with sudo, if you use "
	"that. Exits with 0 if recording works, 1 if there is a problem.";

static const struct cli_example examples[] = {
	{"Whether recording works here", "sudo qprof-bpf doctor"},
	{"Whether it works without root", "qprof-bpf doctor"},
	{"Whether it works with one toolchain, for a program",
	 "sudo qprof-bpf doctor --json +nightly"},
	{},
};

const struct cli_command cli_doctor_command = {
	.name = "doctor",
	.usage = "[OPTION...] [FILE|PID|+TOOLCHAIN]",
	.summary = "Check whether recording works here, and how to fix it",
	.text = about,
	.operand = {"FILE|PID|+TOOLCHAIN", CLI_FILE, false, AT(doctor.target)},
	.needs_rights = true,
	.options = options,
	.examples = examples,
};
