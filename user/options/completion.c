// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/usage.h"

#include <string.h>

#include "options/cargo_qprof.h"
#include "options/command.h"

#define PIDS "$(cd /proc && printf '%s ' [0-9]*)"

/* Print the first clause in single quotes, with a backslash before each character of `special`. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
	for (size_t i = 0; text[i]; i++) {
		if (strchr(".;:", text[i]) && (!text[i + 1] || text[i + 1] == ' '))
			break;
		if (text[i] == '\'')
			fputs("'\\''", out);
		else
			fprintf(out, "%s%c", strchr(special, text[i]) ? "\\" : "", text[i]);
	}
}

/* First words. */
static void print_command_names(FILE *out, const char *separator)
{
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (!cli_command_verb(id))
			fprintf(out, "%s%s", id ? separator : "", cli_command(id)->name);
	}
}

/* Second words. */
static void print_verbs(FILE *out, enum cli_command_id group, const char *separator)
{
	for (enum cli_command_id id = group + 1; id < CLI_N_COMMANDS; id++) {
		if (cli_command_is_in(id, group))
			fprintf(out, "%s%s", id > group + 1 ? separator : "", cli_command_verb(id));
	}
}

static bool is_a_verb(const char *name)
{
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (cli_command_verb(id) && !strcmp(cli_command_verb(id), name))
			return true;
	}
	return false;
}

/* How a shell offers the values of an argument. */
struct values {
	const char *files;
	const char *pids;
	const char *before; /* around a list of words */
	const char *after;
	const char *none;
};

static void print_values(FILE *out, const struct values *v, enum cli_kind kind, const char *choices)
{
	switch (kind) {
	case CLI_FILE:
	case CLI_FILES:
		fputs(v->files, out);
		break;
	case CLI_PIDS:
		fputs(v->pids, out);
		break;
	case CLI_CHOICE:
	case CLI_COMMAND:
		fputs(v->before, out);
		for (; kind == CLI_CHOICE && *choices; choices++)
			fputc(*choices == '|' ? ' ' : *choices, out);
		if (kind == CLI_COMMAND)
			print_command_names(out, " ");
		fputs(v->after, out);
		break;
	default:
		fputs(v->none, out);
	}
}

/* bash */

static const struct values bash_values = {
	.files = "compgen -f -- \"$cur\"",
	.pids = "compgen -W \"" PIDS "\" -- \"$cur\"",
	.before = "compgen -W \"",
	.after = "\" -- \"$cur\"",
	.none = ":",
};

static void print_bash_arguments(FILE *out, enum cli_command_id id)
{
	const struct cli_option *o;

	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		/* After an option whose argument may be left out comes the next option. */
		if (!o->arg || o->implied)
			continue;
		fprintf(out, "\t\"%s --%s\"", cli_command(id)->name, o->name);
		if (o->letter)
			fprintf(out, "|\"%s -%c\"", cli_command(id)->name, o->letter);
		fputs(")\n\t\tmapfile -t COMPREPLY < <(", out);
		print_values(out, &bash_values, o->kind, o->choices);
		fputs(")\n\t\treturn\n\t\t;;\n", out);
	}
}

static void print_bash_command(FILE *out, enum cli_command_id id)
{
	const struct cli_command *command = cli_command(id);
	const struct cli_option *o;

	fprintf(out, "\t\"%s\")\n\t\toptions=\"", command->name);
	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		if (o->letter)
			fprintf(out, "-%c ", o->letter);
		fprintf(out, "--%s ", o->name);
	}
	fputs("\"\n", out);
	if (command->operand.name) {
		fputs("\t\t[[ $cur == -* ]] || mapfile -t COMPREPLY < <(", out);
		print_values(out, &bash_values, command->operand.kind, NULL);
		fputs(")\n", out);
	}
	fputs("\t\t;;\n", out);
}

/* After its first word, which may stand after help, too. */
static void print_bash_group(FILE *out, enum cli_command_id group)
{
	const char *name = cli_command(group)->name;

	fprintf(out,
		"\tif [[ $prev == %s && $cur != -* ]] &&\n"
		"\t\t{ ((COMP_CWORD == 2)) || [[ $command == help ]]; }; then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"",
		name);
	print_verbs(out, group, " ");
	fputs("\" -- \"$cur\")\n\t\treturn\n\tfi\n", out);
	fprintf(out,
		"\tif [[ $command == %s ]] && ((COMP_CWORD > 2)); then\n"
		"\t\tcommand+=\" ${COMP_WORDS[2]}\"\n\tfi\n",
		name);
}

static void print_bash(FILE *out)
{
	fputs("# bash completion for qprof-bpf\n"
	      "_qprof_bpf()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal command=record options i\n\n"
	      "\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -c -f -- \"$cur\" | sort -u)\n"
	      "\t\t\treturn\n\t\tfi\n\tdone\n"
	      "\t# --option=value is three words to bash\n"
	      "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	      "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	      "\tif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then\n"
	      "\t\tcommand=${COMP_WORDS[1]}\n\tfi\n",
	      out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (cli_command_is_group(id))
			print_bash_group(out, id);
	}
	fputs("\tcase \"$command $prev\" in\n", out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++)
		print_bash_arguments(out, id);
	fputs("\tesac\n"
	      "\tif ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"",
	      out);
	print_command_names(out, " ");
	fputs("\" -- \"$cur\")\n\t\treturn\n\tfi\n\tcase $command in\n", out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++)
		print_bash_command(out, id);
	fputs("\tesac\n"
	      "\t[[ $cur != -* ]] || mapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
	      "\"$cur\")\n"
	      "}\n"
	      "complete -o filenames -F _qprof_bpf qprof-bpf\n",
	      out);
}

/* zsh */

static const struct values zsh_values = {"_files", "_pids", "(", ")", " "};

static void print_zsh_option(FILE *out, const struct cli_option *o)
{
	const char *joined = o->implied ? "=-" : o->arg ? "=" : "";
	/* Options that accumulate may be repeated. */
	bool again = o->kind == CLI_PIDS || o->kind == CLI_TEXTS || o->kind == CLI_COUNT;

	fputs(" \\\n\t\t\t", out);
	if (o->letter && again)
		fprintf(out, "'*'{-%c,--%s%s}", o->letter, o->name, joined);
	else if (o->letter)
		fprintf(out, "'(-%c --%s)'{-%c,--%s%s}", o->letter, o->name, o->letter, o->name,
			joined);
	else
		fprintf(out, "--%s%s", o->name, joined);
	fputs("'[", out);
	print_quoted(out, o->help, "[]:\\");
	fputc(']', out);
	if (o->arg) {
		fputs(o->implied ? "::" : ":", out);
		print_quoted(out, o->arg, "[]:\\");
		fputc(':', out);
		print_values(out, &zsh_values, o->kind, o->choices);
	}
	fputc('\'', out);
}

static void print_zsh_command(FILE *out, enum cli_command_id id)
{
	const struct cli_command *command = cli_command(id);
	const struct cli_option *o;

	fprintf(out, "\t\"%s\")\n\t\t_arguments -s -S", command->name);
	for (size_t i = 0; (o = cli_option(id, i)); i++)
		print_zsh_option(out, o);
	if (command->operand.name) {
		enum cli_kind kind = command->operand.kind;

		fprintf(out,
			" \\\n\t\t\t'%s:%s:", kind == CLI_FILES || kind == CLI_TEXTS ? "*" : "1",
			command->operand.name);
		print_values(out, &zsh_values, kind, NULL);
		fputc('\'', out);
	}
	fputs("\n\t\t;;\n", out);
}

static void print_zsh_summary(FILE *out, const char *name, enum cli_command_id id)
{
	fprintf(out, "\t\t'%s:", name);
	print_quoted(out, cli_command(id)->summary, ":\\");
	fputs("'\n", out);
}

/* After its first word, which may stand after help, too. */
static void print_zsh_group(FILE *out, enum cli_command_id group)
{
	const char *name = cli_command(group)->name;

	fprintf(out,
		"\tif [[ $words[2] == help && $words[3] == %s ]]; then\n"
		"\t\tshift words\n\t\t((CURRENT--))\n\tfi\n"
		"\tif [[ $words[2] == %s ]] && ((CURRENT > 2)); then\n"
		"\t\tshift words\n\t\t((CURRENT--))\n"
		"\t\tcommands=(\n",
		name, name);
	for (enum cli_command_id id = group + 1; id < CLI_N_COMMANDS; id++) {
		if (cli_command_is_in(id, group))
			print_zsh_summary(out, cli_command_verb(id), id);
	}
	fputs("\t\t)\n"
	      "\t\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
	      "\t\t\t_describe command commands\n\t\t\treturn\n\t\tfi\n"
	      "\t\tif [[ $words[2] == (",
	      out);
	print_verbs(out, group, "|");
	fprintf(out,
		") ]]; then\n"
		"\t\t\tcommand=\"%s $words[2]\"\n\t\t\tshift words\n\t\t\t((CURRENT--))\n"
		"\t\telse\n\t\t\tcommand=%s\n\t\tfi\n"
		"\telif",
		name, name);
}

static void print_zsh(FILE *out)
{
	fputs("#compdef qprof-bpf\n"
	      "_qprof_bpf()\n{\n"
	      "\tlocal command=record\n"
	      "\tlocal -a commands\n"
	      "\tinteger dashes=${words[(ie)--]}\n\n"
	      "\tif ((dashes < CURRENT)); then\n"
	      "\t\twords=(\"${(@)words[dashes + 1, -1]}\")\n"
	      "\t\t((CURRENT -= dashes))\n"
	      "\t\t_normal\n\t\treturn\n\tfi\n"
	      "\tcommands=(\n",
	      out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (!cli_command_verb(id))
			print_zsh_summary(out, cli_command(id)->name, id);
	}
	fputs("\t)\n"
	      "\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n",
	      out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		if (cli_command_is_group(id))
			print_zsh_group(out, id);
	}
	fputs(" [[ $words[2] == (", out);
	print_command_names(out, "|");
	fputs(") ]]; then\n"
	      "\t\tcommand=$words[2]\n\t\tshift words\n\t\t((CURRENT--))\n\tfi\n"
	      "\tcase $command in\n",
	      out);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++)
		print_zsh_command(out, id);
	fputs("\tesac\n}\n"
	      "# Works when sourced, too.\n"
	      "if [[ $funcstack[1] == _qprof-bpf ]]; then\n"
	      "\t_qprof_bpf \"$@\"\nelse\n\tcompdef _qprof_bpf qprof-bpf\nfi\n",
	      out);
}

/* fish */

static void print_fish_condition(FILE *out, enum cli_command_id id)
{
	const char *verb = cli_command_verb(id);

	fputs("complete -c qprof-bpf -n '", out);
	if (verb) {
		fprintf(out,
			"__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s'",
			(int)(verb - 1 - cli_command(id)->name), cli_command(id)->name, verb);
		return;
	}
	if (id != CLI_RECORD) {
		fprintf(out, "__fish_seen_subcommand_from %s", cli_command(id)->name);
		/* A group's own options are those before a verb; `history diff` is no `diff`. */
		if (is_a_verb(cli_command(id)->name) || cli_command_is_group(id)) {
			fputs("; and not __fish_seen_subcommand_from", out);
			for (enum cli_command_id of = 0; of < CLI_N_COMMANDS; of++) {
				if (cli_command_is_in(of, id))
					fprintf(out, " %s", cli_command_verb(of));
				else if (cli_command_is_group(of) && of != id)
					fprintf(out, " %s", cli_command(of)->name);
			}
		}
		fputc('\'', out);
		return;
	}
	/* The default: no other command was named. */
	fputs("not __fish_seen_subcommand_from", out);
	for (enum cli_command_id other = 0; other < CLI_N_COMMANDS; other++) {
		if (other != CLI_RECORD && !cli_command_verb(other))
			fprintf(out, " %s", cli_command(other)->name);
	}
	fputc('\'', out);
}

static const struct values fish_values = {
	.files = " -F",
	.pids = " -f -a '(__fish_complete_pids)'",
	.before = " -f -a '",
	.after = "'",
	.none = " -f",
};

static void print_fish_command(FILE *out, enum cli_command_id id)
{
	const struct cli_command *command = cli_command(id);
	const char *verb = cli_command_verb(id);
	enum cli_command_id group = id;
	const struct cli_option *o;

	while (verb && !cli_command_is_group(group))
		group--;
	if (verb)
		print_fish_condition(out, group);
	else
		fputs("complete -c qprof-bpf -n __fish_use_subcommand", out);
	fprintf(out, " -f -a %s -d '", verb ?: command->name);
	print_quoted(out, command->summary, "\\");
	fputs("'\n", out);
	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		print_fish_condition(out, id);
		if (o->letter)
			fprintf(out, " -s %c", o->letter);
		fprintf(out, " -l %s", o->name);
		if (o->arg && !o->implied) {
			fputs(" -r", out);
			print_values(out, &fish_values, o->kind, o->choices);
		}
		fputs(" -d '", out);
		print_quoted(out, o->help, "\\");
		fputs("'\n", out);
	}
	if (command->operand.name) {
		print_fish_condition(out, id);
		print_values(out, &fish_values, command->operand.kind, NULL);
		fputc('\n', out);
	}
}

void cli_print_completion(FILE *out, enum cli_shell shell)
{
	switch (shell) {
	case CLI_SHELL_BASH:
		print_bash(out);
		cargo_qprof_print_completion(out, shell);
		break;
	case CLI_SHELL_ZSH:
		print_zsh(out);
		break;
	case CLI_SHELL_FISH:
		fputs("# fish completion for qprof-bpf\n", out);
		for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++)
			print_fish_command(out, id);
		fputs("complete -c qprof-bpf -n 'contains -- -- (commandline -opc)' "
		      "-a '(__fish_complete_subcommand)'\n",
		      out);
		break;
	case CLI_SHELL_NONE:
		break;
	}
}
