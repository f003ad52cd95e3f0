// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/command.h"

static const struct cli_example examples[] = {
	{"Print the version", "qprof-bpf version"},
	{},
};

const struct cli_command cli_version_command = {
	.name = "version",
	.usage = "[OPTION...]",
	.summary = "Print the version",
	.text = "The same as --version.",
	.examples = examples,
};
