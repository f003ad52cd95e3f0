// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/usage.h"

#include <ctype.h>
#include <string.h>

#include "options/command.h"
#include "base/version.h"

#define LINE	      80
#define CHOICES_MAX   40
#define OPTION_INDENT 8

/* Print words up to the line's end, with `indent` spaces before each line. Keeps empty lines. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
	int column = 0;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (column && column + 1 + len > LINE) {
			fputc('\n', out);
			column = 0;
		}
		if (column)
			column += fprintf(out, " %.*s", (int)len, text);
		else
			column = fprintf(out, "%*s%.*s", indent, "", (int)len, text);
		text += len;
		if (*text == ' ')
			text++;
		if (*text != '\n')
			continue;
		while (*text == '\n')
			fputc(*text++, out);
		column = 0;
	}
	fputc('\n', out);
}

void cli_option_heading(const struct cli_option *o, char text[128])
{
	/* Longer lists of choices stand in the help only. */
	bool listed = o->choices && strlen(o->choices) <= CHOICES_MAX;
	char letter[8] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(text, 128, o->implied ? "%s--%s[%s%s]" : "%s--%s%s%s", letter, o->name,
		 o->arg ? "=" : "", listed ? o->choices : o->arg ?: "");
}

static void print_options(FILE *out, enum cli_command_id id)
{
	const struct cli_option *o;

	fputs("\nOptions:\n", out);
	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		char heading[128];

		cli_option_heading(o, heading);
		fprintf(out, "  %s", heading);
		if (o->initial)
			fprintf(out, "  [%s]", o->initial);
		fputc('\n', out);
		print_wrapped(out, o->help, OPTION_INDENT);
	}
}

static void print_examples(FILE *out, enum cli_command_id id)
{
	const struct cli_example *example = cli_command(id)->examples;

	fputs("\nExamples:\n", out);
	for (; example->line; example++)
		fprintf(out, "  %s:\n      %s\n", example->what, example->line);
}

/* A line below the first. */
static void print_usage(FILE *out, enum cli_command_id id)
{
	fprintf(out, "       qprof-bpf %s %s\n", cli_command(id)->name, cli_command(id)->usage);
}

void cli_print_usage_line(FILE *out, enum cli_command_id id, bool named)
{
	const struct cli_command *command = cli_command(id);

	fprintf(out, "usage: qprof-bpf %s%s%s\n", named ? command->name : "", named ? " " : "",
		command->usage);
	for (enum cli_command_id of = id + 1; of < CLI_N_COMMANDS; of++) {
		if (cli_command_is_in(of, id))
			print_usage(out, of);
	}
}

void cli_print_help(FILE *out, enum cli_command_id id)
{
	cli_print_usage_line(out, id, true);
	fputc('\n', out);
	print_wrapped(out, cli_command(id)->text, 0);
	if (cli_command_is_group(id))
		fputs("\nCommands:\n", out);
	for (enum cli_command_id of = id + 1; of < CLI_N_COMMANDS; of++) {
		/* By their second words. */
		if (cli_command_is_in(of, id))
			fprintf(out, "  %-10s %s\n", cli_command_verb(of),
				cli_command(of)->summary);
	}
	print_options(out, id);
	print_examples(out, id);
}

void cli_print_first_screen(FILE *out)
{
	static const struct cli_example first[] = {
		{"Why is my build slow?", "qprof-bpf -o a.qpt -- cargo build"},
		{"Which of my functions and types cost most?", "qprof-bpf report --by item a.qpt"},
		{"Did my change help?", "qprof-bpf diff a.qpt b.qpt"},
		{"What is a running build doing?", "sudo qprof-bpf top -p PID"},
	};

	fputs("qprof-bpf shows where rustc spends its time. Four commands to begin with:\n\n", out);
	for (size_t i = 0; i < N_OF(first); i++)
		fprintf(out, "  %s\n      %s\n", first[i].what, first[i].line);
	fputs("\nWith sudo the first records stacks, waits and what LLVM does, too.\n"
	      "In a project of cargo, \"cargo qprof build\" does the first; cargo qprof report,\n"
	      "diff and top then find what was recorded (cargo qprof --help).\n"
	      "All commands and options: qprof-bpf --help\n"
	      "Whether recording works on this machine: sudo qprof-bpf doctor\n",
	      out);
}

void cli_print_overview(FILE *out)
{
	const struct cli_exit_code *codes;
	size_t n;

	cli_print_usage_line(out, CLI_RECORD, false);
	for (enum cli_command_id id = CLI_RECORD + 1; id < CLI_N_COMMANDS; id++) {
		if (!cli_command_verb(id))
			print_usage(out, id);
	}
	fputc('\n', out);
	print_wrapped(out, cli_command(CLI_RECORD)->text, 0);
	fputs("\nCommands:\n", out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (!cli_command_verb(id))
			fprintf(out, "  %-10s %s\n", cli_command(id)->name,
				cli_command(id)->summary);
	}
	print_options(out, CLI_RECORD);
	print_examples(out, CLI_RECORD);
	fputs("\nExit status, when it is not the launched command's:\n", out);
	codes = cli_exit_codes(&n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "  %3d  %s\n", codes[i].code, codes[i].text);
	fputs("\nqprof-bpf COMMAND --help explains a command; qprof-bpf help --man prints the\n"
	      "manual. Commands of cargo are recorded by cargo qprof (cargo qprof --help).\n",
	      out);
}

/* ---- Manual pages ---------------------------------------------------------------------------- */

void cli_print_escaped(FILE *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (text[0] == '\n' && text[1] == '\n') {
			fputs("\n.PP\n", out);
			text++;
			line_start = true;
			continue;
		}
		/* A dot or an apostrophe at the start of a line would be a request. */
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
	cli_print_escaped(out, text);
	fputc('\n', out);
}

/* `common`: the options of every command, which have a section of their own. */
static void man_print_options(FILE *out, enum cli_command_id id, bool common)
{
	const struct cli_option *o;
	bool any = false;

	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		char heading[128];

		if (cli_option_is_common(o) != common)
			continue;
		if (!any)
			fputs(common ? ".SH OPTIONS OF EVERY COMMAND\n" : ".SH OPTIONS\n", out);
		any = true;
		cli_option_heading(o, heading);
		fputs(".TP\n", out);
		print_line(out, ".B ", heading + strspn(heading, " "));
		print_line(out, "", o->help);
		if (o->initial)
			print_line(out, "The default is ", o->initial);
	}
}

static void man_print_examples(FILE *out, enum cli_command_id id)
{
	const struct cli_example *example = cli_command(id)->examples;

	fputs(".SH EXAMPLES\n", out);
	for (bool first = true; example->line; example++, first = false) {
		if (!first)
			fputs(".PP\n", out);
		cli_print_escaped(out, example->what);
		fputs(":\n.PP\n.in +4n\n.EX\n", out);
		cli_print_escaped(out, example->line);
		fputs("\n.EE\n.in\n", out);
	}
}

/* "\-report" or "\-history\-add", changed by `letter`; nothing for CLI_N_COMMANDS. */
static void print_name(FILE *out, enum cli_command_id id, int (*letter)(int))
{
	if (id == CLI_N_COMMANDS)
		return;
	fputs("\\-", out);
	for (const char *c = cli_command(id)->name; *c; c++) {
		if (*c == ' ')
			fputs("\\-", out);
		else
			fputc(letter(*c), out);
	}
}

/* "qprof\-bpf\-report", or "qprof\-bpf" for CLI_N_COMMANDS. */
static void print_page_name(FILE *out, enum cli_command_id id)
{
	fputs("qprof\\-bpf", out);
	print_name(out, id, tolower);
}

static void print_title(FILE *out, enum cli_command_id id, const char *summary)
{
	/* No date: the page must not differ from build to build. */
	fputs(".TH QPROF\\-BPF", out);
	print_name(out, id, toupper);
	fputs(" 1 \"\" \"qprof\\-bpf " QPROF_VERSION "\" \"User Commands\"\n.SH NAME\n", out);
	print_page_name(out, id);
	print_line(out, " \\- ", summary);
}

static void print_synopsis(FILE *out, enum cli_command_id id)
{
	const struct cli_command *command = cli_command(id);

	fputs(".B qprof\\-bpf ", out);
	print_line(out, "", id == CLI_RECORD ? "[record]" : command->name);
	print_line(out, "", command->usage);
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

static const char environment[] =
	".SH ENVIRONMENT\n"
	".TP\n.B NO_COLOR\nIf set and not empty, live counts are printed without "
	"attributes.\n"
	".TP\n.B TERM\nIf unset or dumb, live counts are printed as blocks of lines.\n"
	".TP\n.B XDG_CACHE_HOME\nPlans of your own libraries are kept in "
	"qprof\\-bpf below it, or below ~/.cache. Root keeps them in "
	"/var/cache/qprof\\-bpf, or below this directory if only root can write "
	"there.\n"
	".TP\n.B XDG_DATA_HOME\nA history is qprof\\-bpf/history.db below it, or below "
	"~/.local/share.\n"
	".TP\n.B XDG_STATE_HOME\nBuilds that wait for the server of a history are in "
	"qprof\\-bpf/spool below it, or below ~/.local/state.\n"
	".TP\n.BR QPROF_CLICKHOUSE_USER \", \" QPROF_CLICKHOUSE_PASSWORD\nCredentials for "
	"the server of a history. Without them,\nqprof\\-bpf/clickhouse below "
	"XDG_CONFIG_HOME, or below ~/.config, has these.\n"
	".TP\n.B RUSTUP_HOME\nWhere\n.B doctor\nlooks for toolchains, besides ~/.rustup.\n"
	".TP\n.BR SUDO_UID \", \" SUDO_GID\nSet by\n.BR sudo (8):\nuser and group of the "
	"launched command and of files.\n";

/* Of all commands, or of those of a group. */
static void print_pages(FILE *out, enum cli_command_id group)
{
	fputs(".SH COMMANDS\n", out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (group != CLI_N_COMMANDS && !cli_command_is_in(id, group))
			continue;
		fputs(".TP\n.BR ", out);
		print_page_name(out, id);
		fputs(" (1)\n", out);
		print_line(out, "", cli_command(id)->summary);
	}
}

/* How to record without root. tests/e2e/test_without_root.py tests the required rights. */
static const char privileges[] =
	".SH PRIVILEGES\n"
	"Only\n.B record\nneeds any, and\n.B doctor\nreports which are missing: CAP_BPF and "
	"CAP_PERFMON, and no more. Root has them; an executable can be given them:\n"
	".PP\n.in +4n\n.EX\n"
	"chgrp profilers /usr/local/bin/qprof\\-bpf\n"
	"chmod 750 /usr/local/bin/qprof\\-bpf\n"
	"setcap cap_bpf,cap_perfmon+ep /usr/local/bin/qprof\\-bpf\n"
	".EE\n.in\n.PP\n"
	"A user who may run it then records without\n.BR sudo (8).\n"
	"It should not be everybody: CAP_PERFMON lets its holder watch what others run, "
	"and recent kernels let it look into their processes\n"
	".RB ( \\-\\-pid );\n"
	"elsewhere that takes CAP_SYS_PTRACE as well. A library that was deleted while a "
	"compiler runs takes CAP_CHECKPOINT_RESTORE, and\n"
	".B \\-\\-attach perf\nCAP_SYS_ADMIN.\n"
	"File capabilities have no effect on a file system that is mounted nosuid, nor "
	"under no_new_privs.\n";

static void print_overview(FILE *out)
{
	print_title(out, CLI_N_COMMANDS, "see where rustc spends its time, query by query");
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (cli_command_verb(id))
			continue;
		fputs(id ? ".br\n" : ".SH SYNOPSIS\n", out);
		print_synopsis(out, id);
	}
	fputs(".SH DESCRIPTION\n"
	      "Profiles the queries of the Rust compiler, live, on the unmodified stable\n"
	      "toolchain, by eBPF probes on its librustc_driver. Data goes to standard output,\n"
	      "messages to standard error. The files belong to the user who ran sudo.\n",
	      out);
	print_pages(out, CLI_N_COMMANDS);
	man_print_options(out, CLI_RECORD, true);
	fputs(privileges, out);
	print_exit_status(out);
	fputs(environment, out);
	man_print_examples(out, CLI_RECORD);
	fputs(".SH SEE ALSO\n.BR cargo\\-qprof (1),\n.BR perf (1),\n.BR bpftool (8),\n.BR "
	      "capabilities (7)\n",
	      out);
}

void cli_print_man(FILE *out, enum cli_command_id id)
{
	if (id == CLI_N_COMMANDS) {
		print_overview(out);
		return;
	}
	print_title(out, id, cli_command(id)->summary);
	fputs(".SH SYNOPSIS\n", out);
	print_synopsis(out, id);
	print_line(out, ".SH DESCRIPTION\n", cli_command(id)->text);
	if (cli_command_is_group(id))
		print_pages(out, id);
	man_print_options(out, id, false);
	man_print_options(out, id, true);
	print_exit_status(out);
	man_print_examples(out, id);
	fputs(".SH SEE ALSO\n.BR qprof\\-bpf (1)\n", out);
}
