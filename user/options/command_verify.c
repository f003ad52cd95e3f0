// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_option options[] = {
	NO_LIMITS_OPTION,
	{},
};

static const char about[] =
	"Reads all of a trace, checks its header, its index and every chunk (chunks of a "
	"later version by their checksums only), and prints what is sound and what is "
	"missing. Exits with 0 if the trace is whole, 1 if its end is missing (the rest can "
	"be read), 3 if it is damaged (what comes before the damage can be read).";

static const struct cli_example examples[] = {
	{"Whether a trace is whole", "qprof-bpf verify debug.qpt"},
	{},
};

const struct cli_command cli_verify_command = {
	.name = "verify",
	.usage = "[OPTION...] FILE",
	.summary = "Check that a trace is whole",
	.text = about,
	.operand = {"FILE", CLI_FILE, true, AT(verify.file)},
	.options = options,
	.examples = examples,
};
