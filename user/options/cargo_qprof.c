// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/cargo_qprof.h"

#include <string.h>

#include "base/array.h"
#include "base/version.h"
#include "options/command.h"
#include "options/usage.h"

static const struct cargo_word words[] = {
	{"report", "print the report of the newest again", CLI_REPORT},
	{"top", "look through the newest on the whole terminal", CLI_TOP},
	{"page", "make a page of the newest, and open it in the browser", CLI_EXPORT},
	{"diff", "compare the newest with the one before it of the same command", CLI_DIFF},
	{"export", "write the newest for another tool", CLI_EXPORT},
};

static const struct {
	const char *name, *what;
} options[] = {
	{CARGO_QPROF_SUDO, "get the rights to record by sudo; cargo itself runs as you"},
	{"--exact", "and all other options of qprof-bpf record, as --sample=999"},
};

/* Those of cargo that compile: for completion only. */
static const char *const cargo_commands[] = {"build", "check", "clippy",  "test", "run",
					     "doc",   "bench", "install", "rustc"};

static const char usage[] = "[OPTION...] [+TOOLCHAIN] COMMAND [ARG...]";

/* Lines fit a terminal. */
static const char about[] =
	"Records where rustc spends its time while cargo runs COMMAND (build, check,\n"
	"test, clippy, doc, run, bench, install, ...), and then prints the report.\n"
	"Output and exit status are cargo's.\n";
static const char kept[] =
	"Of each workspace, the ten newest recordings of each command are kept, and 50\n"
	"of all commands. These words are about them:\n";
static const char theirs[] =
	"Options of these are those of qprof-bpf report, top, export and diff.\n";

static const char places[] =
	"A command is the same if all of its arguments are. The traces are in "
	"qprof-bpf/WORKSPACE-HASH below $XDG_STATE_HOME, or below ~/.local/state: cargo clean "
	"deletes what is in target/. They are yours alone, and can be given to all commands of "
	"qprof-bpf. A workspace is the nearest directory, upwards from this one or from "
	"--manifest-path, whose Cargo.toml has a table [workspace], or else the nearest one with "
	"a Cargo.toml.\n\n"
	"Where nothing was compiled, no trace is kept, and a line says how to make cargo compile "
	"again. A recording of run ends when the program begins; the report follows the program. "
	"One "
	"of test or bench goes on until the command ends, as its programs may start compilers, "
	"too; its times end with the last compiler. Ctrl-C ends the recording "
	"and the command, and the report follows.\n\n"
	"Options of qprof-bpf record stand before COMMAND, and their values after an equals "
	"sign. All arguments after COMMAND are cargo's.\n\n"
	"With --sudo, qprof-bpf itself runs as root, and cargo as you, with your environment, PATH "
	"and toolchain, which it reads from the process that waits for sudo. sudo passes on what "
	"the terminal sends; a signal from another program goes to cargo.";

static const struct cli_example examples[] = {
	{"Why is my build slow?", "cargo qprof build --release"},
	{"Did my change help? Record it again, and compare", "cargo qprof diff"},
	{"A crate, without the rights to record", "cargo qprof --sudo check -p tool"},
};

const struct cargo_word *cargo_word(const char *name)
{
	for (size_t i = 0; i < N_OF(words); i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

bool cargo_qprof_is_meant(const struct cli_name *topic)
{
	if (!topic->word)
		return false;
	if (!topic->verb)
		return !strcmp(topic->word, CARGO_QPROF_NAME);
	return !strcmp(topic->word, "cargo") && !strcmp(topic->verb, "qprof");
}

void cargo_qprof_print_help(FILE *out)
{
	fprintf(out, "usage: cargo qprof %s\n\n%s\n", usage, about);
	for (size_t i = 0; i < N_OF(options); i++)
		fprintf(out, "  %-8s %s\n", options[i].name, options[i].what);
	fprintf(out, "\n%s\n", kept);
	for (size_t i = 0; i < N_OF(words); i++)
		fprintf(out, "  %-8s %s\n", words[i].name, words[i].what);
	fprintf(out, "\n%sExamples:\n", theirs);
	for (size_t i = 0; i < N_OF(examples); i++)
		fprintf(out, "  %s\n", examples[i].line);
}

static void print_row(FILE *out, const char *name, const char *what)
{
	fputs(".TP\n.B ", out);
	cli_print_escaped(out, name);
	fputc('\n', out);
	cli_print_escaped(out, what);
	fputs(".\n", out);
}

void cargo_qprof_print_man(FILE *out)
{
	fputs(".TH CARGO\\-QPROF 1 \"\" \"qprof\\-bpf " QPROF_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\ncargo\\-qprof \\- record what a command of cargo compiles, and look at "
	      "it\n"
	      ".SH SYNOPSIS\n.B cargo qprof\n",
	      out);
	cli_print_escaped(out, usage);
	for (size_t i = 0; i < N_OF(words); i++)
		fprintf(out, "\n.br\n.B cargo qprof %s\n[OPTION...]", words[i].name);
	fputs("\n.SH DESCRIPTION\n", out);
	cli_print_escaped(out, about);
	fputs(".PP\n", out);
	cli_print_escaped(out, kept);
	for (size_t i = 0; i < N_OF(words); i++)
		print_row(out, words[i].name, words[i].what);
	fputs(".PP\n", out);
	cli_print_escaped(out, theirs);
	fputs(".PP\n", out);
	cli_print_escaped(out, places);
	fputs("\n.SH OPTIONS\n", out);
	for (size_t i = 0; i < N_OF(options); i++)
		print_row(out, options[i].name, options[i].what);
	fputs(".SH EXIT STATUS\nThat of cargo, or of\n.BR qprof\\-bpf (1).\n"
	      ".SH ENVIRONMENT\n.TP\n.B CARGO\nThe cargo that runs: cargo sets it for its "
	      "subcommands. Without it, and with +TOOLCHAIN, the PATH has it.\n"
	      ".TP\n.B XDG_STATE_HOME\nWhere traces are kept, in qprof\\-bpf below it.\n"
	      ".TP\n.BR DISPLAY \", \" WAYLAND_DISPLAY\nWith neither,\n.B page\n"
	      "only prints the path of the page, and opens no browser.\n"
	      ".SH EXAMPLES\n",
	      out);
	for (size_t i = 0; i < N_OF(examples); i++) {
		fputs(i ? ".PP\n" : "", out);
		cli_print_escaped(out, examples[i].what);
		fputs(":\n.PP\n.in +4n\n.EX\n", out);
		cli_print_escaped(out, examples[i].line);
		fputs("\n.EE\n.in\n", out);
	}
	fputs(".SH SEE ALSO\n.BR qprof\\-bpf (1),\n.BR qprof\\-bpf\\-record (1),\n.BR cargo (1)\n",
	      out);
}

/* ---- Completion ------------------------------------------------------------------------------ */

static void print_words(FILE *out, const char *separator)
{
	for (size_t i = 0; i < N_OF(words); i++)
		fprintf(out, "%s%s", i ? separator : "", words[i].name);
}

static void print_cargo_commands(FILE *out)
{
	for (size_t i = 0; i < N_OF(cargo_commands); i++)
		fprintf(out, "%s%s", i ? " " : "", cargo_commands[i]);
}

/*
 * cargo's own completion in bash offers files behind a subcommand that it does not know, so this is
 * for `cargo-qprof`. Behind our words there are the options of qprof-bpf's commands.
 */
static void print_bash(FILE *out)
{
	fputs("\n_cargo_qprof()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} i=1\n\n"
	      "\tCOMPREPLY=()\n"
	      "\t[[ ${COMP_WORDS[1]} != qprof ]] || i=2\n"
	      "\twhile ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == [-+=]* ]]; do\n"
	      "\t\t((i++))\n\tdone\n"
	      "\tif ((i >= COMP_CWORD)); then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"",
	      out);
	print_words(out, " ");
	fputc(' ', out);
	print_cargo_commands(out);
	fputs(" " CARGO_QPROF_SUDO " --help\" -- \"$cur\")\n\t\treturn\n\tfi\n"
	      "\tcase ${COMP_WORDS[i]} in\n\t",
	      out);
	print_words(out, " | ");
	fputs(")\n"
	      "\t\tCOMP_WORDS=(qprof-bpf \"${COMP_WORDS[@]:i}\")\n"
	      "\t\t[[ ${COMP_WORDS[1]} != page ]] || COMP_WORDS[1]=export\n"
	      "\t\t((COMP_CWORD -= i - 1))\n"
	      "\t\t_qprof_bpf\n"
	      "\t\t;;\n"
	      "\t*)\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	      "\t\t;;\n"
	      "\tesac\n}\n"
	      "complete -o filenames -F _cargo_qprof " CARGO_QPROF_NAME "\n",
	      out);
}

/* The function that cargo's own completion calls, with `qprof` as the first word. */
static void print_zsh(FILE *out)
{
	fputs("#compdef " CARGO_QPROF_NAME "\n"
	      "_cargo-qprof()\n{\n"
	      "\tlocal -a commands\n"
	      "\tinteger at=2\n\n"
	      "\tcommands=(\n",
	      out);
	for (size_t i = 0; i < N_OF(words); i++)
		fprintf(out, "\t\t'%s:%s'\n", words[i].name, words[i].what);
	fputs("\t\t", out);
	print_cargo_commands(out);
	fputs("\n\t)\n"
	      "\t[[ $words[2] != qprof ]] || at=3\n"
	      "\twhile ((at < CURRENT)) && [[ $words[at] == [-+]* ]]; do\n"
	      "\t\tat+=1\n\tdone\n"
	      "\tif ((at >= CURRENT)); then\n"
	      "\t\tif [[ $words[CURRENT] == -* ]]; then\n"
	      "\t\t\tcompadd -- " CARGO_QPROF_SUDO " --help\n"
	      "\t\telse\n"
	      "\t\t\t_describe command commands\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\twords=(\"${(@)words[at,-1]}\")\n"
	      "\t((CURRENT -= at - 2))\n"
	      "\tcase $words[1] in\n\t(",
	      out);
	print_words(out, "|");
	fputs(")\n"
	      "\t\t[[ $words[1] != page ]] || words[1]=export\n"
	      "\t\twords=(qprof-bpf $words)\n"
	      "\t\t;;\n"
	      "\t*)\n"
	      "\t\twords=(cargo $words)\n"
	      "\t\t;;\n"
	      "\tesac\n"
	      "\t_normal\n}\n"
	      "if [[ $funcstack[1] == _cargo-qprof ]]; then\n"
	      "\t_cargo-qprof \"$@\"\nelse\n\tcompdef _cargo-qprof " CARGO_QPROF_NAME "\nfi\n",
	      out);
}

/* fish asks no subcommand of cargo, and takes more offers for it from anywhere. */
static void print_fish(FILE *out)
{
	static const char in_qprof[] =
		"complete -c cargo -n '__fish_seen_subcommand_from qprof; and not "
		"__fish_seen_subcommand_from ";

	fputs("# fish completion for cargo qprof\n"
	      "complete -c cargo -n __fish_use_subcommand -f -a qprof "
	      "-d 'Record what a command compiles, and look at it'\n",
	      out);
	for (size_t i = 0; i < N_OF(words); i++) {
		fputs(in_qprof, out);
		print_words(out, " ");
		fprintf(out, "' -f -a %s -d '%s'\n", words[i].name, words[i].what);
	}
	fputs(in_qprof, out);
	print_words(out, " ");
	fputs("' -f -a '", out);
	print_cargo_commands(out);
	fputs("'\n", out);
	fputs(in_qprof, out);
	print_words(out, " ");
	fprintf(out, "' -l %s -d '%s'\n", &CARGO_QPROF_SUDO[2], options[0].what);
}

void cargo_qprof_print_completion(FILE *out, enum cli_shell shell)
{
	if (shell == CLI_SHELL_BASH)
		print_bash(out);
	else if (shell == CLI_SHELL_ZSH)
		print_zsh(out);
	else if (shell == CLI_SHELL_FISH)
		print_fish(out);
}
