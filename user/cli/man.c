// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/man.h"

#include <string.h>

#include "base/version.h"
#include "cli/options.h"
#include "cli/usage.h"

/* Text as roff takes it literally; an empty line starts a paragraph. */
static void print_escaped(FILE *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (text[0] == '\n' && text[1] == '\n') {
			fputs("\n.PP\n", out);
			text++;
			line_start = true;
			continue;
		}
		/* A dot or an apostrophe that starts a line would be a request. */
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		line_start = *text == '\n';
	}
}

static void print_line(FILE *out, const char *request, const char *text)
{
	fprintf(out, "%s", request);
	print_escaped(out, text);
	fputc('\n', out);
}

static void print_option(FILE *out, const struct cli_option *o)
{
	char heading[128];

	cli_option_heading(o, heading);
	fputs(".TP\n", out);
	print_line(out, ".B ", heading + strspn(heading, " "));
	print_line(out, "", o->help);
	if (o->initial)
		print_line(out, "The default is ", o->initial);
}

static void print_options(FILE *out, enum cli_command_id id)
{
	size_t n;
	const struct cli_option *options = cli_options(&n);

	for (size_t i = 0; i < n; i++) {
		/* Those of every command have a section of their own. */
		if (cli_takes(id, &options[i]) && options[i].commands != CLI_ALL)
			print_option(out, &options[i]);
	}
}

static void print_examples(FILE *out, enum cli_command_id id)
{
	const struct cli_example *example = cli_command(id)->examples;

	for (; example->line; example++) {
		fputs(".PP\n", out);
		print_escaped(out, example->what);
		fputs(":\n.PP\n.in +4n\n.EX\n", out);
		print_escaped(out, example->line);
		fputs("\n.EE\n.in\n", out);
	}
}

static void print_command(FILE *out, enum cli_command_id id)
{
	const struct cli_command *command = cli_command(id);

	print_line(out, ".SS ", command->name);
	fputs(".B qprof\\-bpf ", out);
	print_line(out, "", command->name);
	print_line(out, "", command->usage);
	print_line(out, ".PP\n", command->text);
	print_options(out, id);
	print_examples(out, id);
}

static void print_synopsis(FILE *out)
{
	fputs(".SH SYNOPSIS\n", out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const struct cli_command *command = cli_command(id);

		fputs(id ? ".br\n.B qprof\\-bpf " : ".B qprof\\-bpf ", out);
		print_line(out, "", id == CLI_RECORD ? "[record]" : command->name);
		print_line(out, "", command->usage);
	}
}

static void print_common_options(FILE *out)
{
	size_t n;
	const struct cli_option *options = cli_options(&n);

	fputs(".SH OPTIONS OF EVERY COMMAND\n", out);
	for (size_t i = 0; i < n; i++) {
		if (options[i].commands == CLI_ALL)
			print_option(out, &options[i]);
	}
}

static void print_exit_status(FILE *out)
{
	size_t n;
	const struct cli_exit_code *codes = cli_exit_codes(&n);

	fputs(".SH EXIT STATUS\n"
	      "A launched command's exit status is passed on, and a signal that ended it ends\n"
	      "qprof\\-bpf too. Otherwise:\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, ".TP\n.B %d\n", codes[i].code);
		print_line(out, "", codes[i].text);
	}
}

void cli_print_man(FILE *out)
{
	/* No date: the page must not differ from build to build. */
	fputs(".TH QPROF\\-BPF 1 \"\" \"qprof\\-bpf " QPROF_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\n"
	      "qprof\\-bpf \\- see where rustc spends its time, query by query\n",
	      out);
	print_synopsis(out);
	fputs(".SH DESCRIPTION\n"
	      "Profiles the queries of the Rust compiler, live, on the unmodified stable\n"
	      "toolchain, by eBPF probes on its librustc_driver. Only recording needs\n"
	      "privileges. Data goes to standard output, messages to standard error.\n"
	      ".SH COMMANDS\n",
	      out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++)
		print_command(out, id);
	print_common_options(out);
	print_exit_status(out);
	fputs(".SH ENVIRONMENT\n"
	      ".TP\n.B NO_COLOR\nIf set and not empty, live counts are printed without "
	      "attributes.\n"
	      ".TP\n.B TERM\nIf unset or dumb, live counts are printed as blocks of lines.\n"
	      ".TP\n.B XDG_CACHE_HOME\nPlans are cached in qprof\\-bpf below it, or below "
	      "~/.cache.\n"
	      ".TP\n.BR SUDO_UID \", \" SUDO_GID\nSet by\n.BR sudo (8):\nwhom a launched command "
	      "runs as, and whom traces belong to.\n"
	      ".SH SEE ALSO\n.BR perf (1),\n.BR bpftool (8)\n",
	      out);
}
