// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/usage.h"
#include "options/command.h"

#include <string.h>

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

/* The commands of a group, by their second words. */
static void print_group(FILE *out, enum cli_command_id group)
{
	fputs("\nCommands:\n", out);
	for (enum cli_command_id id = group + 1; id < CLI_N_COMMANDS; id++) {
		if (cli_command_is_in(id, group))
			fprintf(out, "  %-10s %s\n", cli_command_verb(id),
				cli_command(id)->summary);
	}
}

void cli_print_help(FILE *out, enum cli_command_id id)
{
	cli_print_usage_line(out, id, true);
	fputc('\n', out);
	print_wrapped(out, cli_command(id)->text, 0);
	if (cli_command_is_group(id))
		print_group(out, id);
	print_options(out, id);
	print_examples(out, id);
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
	      "manual.\n",
	      out);
}
