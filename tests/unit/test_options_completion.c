// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "options/usage.h"
#include "options/command.h"

#include "../fixtures/output.h"

/* Holds the scripts of the three shells, and the offers of zsh. */
static char directory[] = "/tmp/qprof-test-completion-XXXXXX";
static char scripts[4][64];

static int write_scripts(void **state)
{
	static const char *const names[] = {"", "bash", "zsh", "fish"};

	if (!mkdtemp(directory))
		return -1;
	for (int shell = CLI_SHELL_BASH; shell <= CLI_SHELL_FISH; shell++) {
		FILE *f;

		snprintf(scripts[shell], sizeof(scripts[shell]), "%s/%s", directory, names[shell]);
		f = fopen(scripts[shell], "we");
		if (!f)
			return -1;
		cli_print_completion(f, (enum cli_shell)shell);
		if (fclose(f))
			return -1;
	}
	return 0;
}

static int remove_scripts(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

/* The output of a command, which must succeed. */
static char *output_of(const char *command)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = popen(command, "r");

	assert_non_null(f);
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	if (pclose(f))
		fail_msg("%s\n%s", command, text);
	return text;
}

/*
 * The offers of bash for a line, each as <offer>. The caller splits the line at spaces and "=", as
 * bash does. The last word, which may be empty, is completed.
 */
static char *offers(const char *words)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "bash -uc '. %s && COMP_WORDS=(%s) && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && "
		 "_qprof_bpf && printf \"<%%s>\" \"${COMPREPLY[@]-}\"' 2>&1",
		 scripts[CLI_SHELL_BASH], words);
	return output_of(command);
}

static void check(const char *words, const char *expected)
{
	_free_ char *text = offers(words);

	assert_string_equal(text, expected);
}

TEST_CASE(words_are_offered)
{
	/* The first word is a command. */
	check("qprof-bpf rep", "<report>");
	check("qprof-bpf pl", "<plan>");
	/* Options are those of the command. */
	check("qprof-bpf --ring", "<--ring-size>");
	check("qprof-bpf record --ring", "<--ring-size>");
	check("qprof-bpf report --ring", "<>");
	check("qprof-bpf report --to", "<--top>");
	check("qprof-bpf plan --no", "<--no-cache>");
	/* Values are offered. */
	check("qprof-bpf --attach mu", "<multi>");
	check("qprof-bpf --attach = p", "<perf>");
	check("qprof-bpf --attach =", "<auto><multi><perf><read>");
	check("qprof-bpf help --completion z", "<zsh>");
	check("qprof-bpf help rec", "<record>");
	check("qprof-bpf --interval 1", "<>");
}

TEST_CASE(pids_and_files_are_offered)
{
	_free_ char *files = offers("qprof-bpf report /tmp/qprof-test-comp"), *pids = NULL;
	char pid[64];

	snprintf(pid, sizeof(pid), "qprof-bpf -p %d", getpid());
	pids = offers(pid);
	assert_contains(pids, pid + strlen("qprof-bpf -p "));
	assert_contains(files, directory);
}

TEST_CASE(behind_two_dashes_commands_are_offered)
{
	_free_ char *text = offers("qprof-bpf -q -- print");

	assert_contains(text, "<printf>");
	assert_lacks(text, "<--");
}

/* ---- All options, in each shell -------------------------------------------------------------- */

static void need(const char *shell)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", shell);
	if (system(command) == 0)
		return;
	print_message("no %s here\n", shell);
	skip();
}

/*
 * `offered` is an empty line, then one word per line. The words that start with a dash must be the
 * options of the command.
 */
static void check_options(enum cli_command_id id, const char *offered)
{
	size_t wanted = 0, found = occurrences(offered, "\n-");
	const struct cli_option *o;
	char line[80];

	for (size_t i = 0; (o = cli_option(id, i)); i++) {
		snprintf(line, sizeof(line), "\n--%s\n", o->name);
		assert_contains(offered, line);
		wanted++;
		if (!o->letter)
			continue;
		snprintf(line, sizeof(line), "\n-%c\n", o->letter);
		assert_contains(offered, line);
		wanted++;
	}
	if (found != wanted)
		fail_msg("%zu options of %s are offered, not %zu:%s", found, cli_command(id)->name,
			 wanted, offered);
}

/* The first words, or the second ones of a group's commands. */
static void check_commands(const char *offered, enum cli_command_id group)
{
	size_t found = 0, wanted = 0;

	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		const char *verb = cli_command_verb(id);
		char line[64];

		if (group == CLI_N_COMMANDS ? !!verb : !cli_command_is_in(id, group))
			continue;
		snprintf(line, sizeof(line), "\n%s\n", verb ?: cli_command(id)->name);
		assert_contains(offered, line);
		wanted++;
	}
	for (const char *at = offered; (at = strchr(at, '\n')); at++)
		found += at[1] && at[1] != '\n';
	if (found != wanted)
		fail_msg("%zu words, not %zu:%s", found, wanted, offered);
}

/* offers(), one per line. */
static char *offered_lines(const char *words)
{
	char *text = offers(words);

	for (char *c = text; *c; c++)
		*c = *c == '<' || *c == '>' ? '\n' : *c;
	return text;
}

TEST_CASE(bash_offers_what_a_command_takes_and_no_more)
{
	_free_ char *commands = offered_lines("qprof-bpf \"\"");
	_free_ char *verbs = offered_lines("qprof-bpf history \"\"");
	_free_ char *topics = offered_lines("qprof-bpf help history \"\"");

	check_commands(commands, CLI_N_COMMANDS);
	check_commands(verbs, CLI_HISTORY);
	check_commands(topics, CLI_HISTORY);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		_free_ char *options = NULL;
		char words[64];

		snprintf(words, sizeof(words), "qprof-bpf %s -", cli_command(id)->name);
		options = offered_lines(words);
		check_options(id, options);
	}
}

/* The offers of fish for a line. */
static char *fish_offers(const char *line)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "HOME=%s fish --no-config -c 'source %s; echo; complete -C \"%s\"' | cut -f 1",
		 directory, scripts[CLI_SHELL_FISH], line);
	return output_of(command);
}

TEST_CASE(fish_offers_what_a_command_takes_and_no_more)
{
	_free_ char *commands = NULL, *values = NULL, *programs = NULL, *none = NULL, *verbs = NULL;

	need("fish");
	commands = fish_offers("qprof-bpf ");
	check_commands(commands, CLI_N_COMMANDS);
	verbs = fish_offers("qprof-bpf history ");
	check_commands(verbs, CLI_HISTORY);
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		_free_ char *options = NULL;
		char line[64];

		snprintf(line, sizeof(line), "qprof-bpf %s -", cli_command(id)->name);
		options = fish_offers(line);
		check_options(id, options);
	}
	values = fish_offers("qprof-bpf --attach ");
	assert_string_equal(values, "\nauto\nmulti\nperf\nread\n");
	programs = fish_offers("qprof-bpf -q -- print");
	assert_contains(programs, "\nprintf\n");
	none = fish_offers("qprof-bpf --quiet print");
	assert_lacks(none, "\nprintf\n");
}

/* Write the offers of zsh for each line to the files 1, 2, ... of the directory. */
static void ask_zsh(const char *lines)
{
	char command[256];
	FILE *zsh;

	snprintf(command, sizeof(command), "HOME=%s zsh -f tests/fixtures/zsh_offers.zsh %s %s",
		 directory, scripts[CLI_SHELL_ZSH], directory);
	zsh = popen(command, "w");
	assert_non_null(zsh);
	fputs(lines, zsh);
	assert_int_equal(pclose(zsh), 0);
}

static char *zsh_offered(int n)
{
	_free_ char *text = NULL;
	char path[64], *behind_empty;

	snprintf(path, sizeof(path), "%s/%d", directory, n);
	text = output_read(path);
	assert_non_null(text);
	assert_true(asprintf(&behind_empty, "\n%s", text) > 0);
	return behind_empty;
}

TEST_CASE(zsh_offers_what_a_command_takes_and_no_more)
{
	char lines[4096] = "qprof-bpf \nqprof-bpf --attach=\nqprof-bpf -q -- print\n"
			   "qprof-bpf history \nqprof-bpf help history \n";
	_free_ char *commands = NULL, *values = NULL, *programs = NULL, *verbs = NULL,
		    *topics = NULL;

	need("zsh");
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		size_t len = strlen(lines);

		snprintf(lines + len, sizeof(lines) - len, "qprof-bpf %s -\n",
			 cli_command(id)->name);
	}
	ask_zsh(lines);
	commands = zsh_offered(1);
	check_commands(commands, CLI_N_COMMANDS);
	verbs = zsh_offered(4);
	check_commands(verbs, CLI_HISTORY);
	topics = zsh_offered(5);
	check_commands(topics, CLI_HISTORY);
	values = zsh_offered(2);
	assert_string_equal(values, "\nauto\nmulti\nperf\nread\n");
	programs = zsh_offered(3);
	assert_contains(programs, "\nprintf\n");
	for (enum cli_command_id id = 0; id < CLI_N_COMMANDS; id++) {
		_free_ char *options = zsh_offered(6 + (int)id);

		check_options(id, options);
	}
}

TEST_MAIN(write_scripts, remove_scripts)
