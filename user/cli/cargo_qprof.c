// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cargo_qprof.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/first_environ.h"
#include "base/invoker.h"
#include "base/own_path.h"
#include "base/signals.h"
#include "cargo/target_dir.h"
#include "cli/cargo_report.h"
#include "cli/cargo_traces.h"
#include "cli/cmd.h"
#include "options/cargo_qprof.h"
#include "options/command.h"
#include "options/exit_code.h"
#include "proc/processes.h"
#include "record/launch.h"

bool cargo_qprof_is(char *const argv[])
{
	if (!argv[0] || strcmp(basename(argv[0]), CARGO_QPROF_NAME) != 0)
		return false;
	/* Run by begin_with_sudo(), by the name of a file that is a copy and no link. */
	return !getenv("SUDO_UID") || !argv[1] || strcmp(argv[1], "record") != 0;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void add(struct cargo_call *c, const char *word)
{
	char *item = (char *)word;

	/* The first failure keeps the others from being added at a wrong place. */
	if (c->capacity != UINT32_MAX && array__add(&c->argv, &c->n, &c->capacity, &item))
		c->capacity = UINT32_MAX;
}

static void add_all(struct cargo_call *c, char *const words[])
{
	while (*words)
		add(c, *words++);
}

static int end_words(struct cargo_call *c)
{
	add(c, NULL);
	if (c->capacity == UINT32_MAX)
		return diag_error_r(-ENOMEM, "out of memory");
	c->n--;
	return 0;
}

static bool is_one_of(const char *word, const char *one, const char *other)
{
	return !strcmp(word, one) || !strcmp(word, other);
}

static bool is_help(const char *word)
{
	return is_one_of(word, "--help", "-h") || !strcmp(word, "help");
}

static bool has_help(char *const words[])
{
	for (; *words && strcmp(*words, "--"); words++)
		if (is_one_of(*words, "--help", "-h"))
			return true;
	return false;
}

/* The option of a recording that a word is, by its letter or its name, which may be cut short. */
static const struct cli_option *option_of(const char *word)
{
	const struct cli_option *o, *found = NULL;
	size_t length = strcspn(word + 2, "=");

	for (size_t i = 0; (o = cli_option(CLI_RECORD, i)); i++) {
		if (word[1] == '-' ? !strcmp(word + 2, o->name) : word[1] == o->letter)
			return o;
		if (!found && word[1] == '-' && !strncmp(word + 2, o->name, length))
			found = o;
	}
	return found;
}

/* Refuse an option before the command that would take a word of cargo's, or the trace from us. */
static int check_option(const char *word)
{
	static const char *const refused[] = {"output", "traces", "pid", "system", "cgroup"};
	const struct cli_option *o;

	if (!strcmp(word, "-") || !strcmp(word, "--"))
		return diag_error_r(-EINVAL, "leave out the %s before the command of cargo", word);
	if (!strcmp(word, CARGO_QPROF_SUDO))
		return 0;
	o = option_of(word);
	/* One that is not known is refused by name when the recording's options are parsed. */
	if (!o)
		return 0;
	for (size_t i = 0; i < N_OF(refused); i++)
		if (!strcmp(o->name, refused[i]))
			return diag_error_r(-EINVAL,
					    "cargo qprof does not take --%s: it records the "
					    "command of cargo, and names the trace; qprof-bpf "
					    "record takes it",
					    o->name);
	if (word[1] != '-' && !o->arg && word[2])
		return diag_error_r(-EINVAL, "%s: write each option of one letter as its own word",
				    word);
	if (o->arg && !o->implied && (word[1] == '-' ? !strchr(word, '=') : !word[2]))
		return diag_error_r(-EINVAL,
				    "the value of --%s stands behind an equals sign: --%s=%s",
				    o->name, o->name, o->arg);
	return 0;
}

/*
 * The directory of the manifest, as an option of cargo's names it, or else the working directory.
 * To be freed; NULL: no memory.
 */
static char *named_directory(char *const words[])
{
	const char *manifest = cargo_option(words, "--manifest-path");
	const char *path = cargo_option(words, "--path");
	const char *slash = manifest ? strrchr(manifest, '/') : NULL;

	if (slash)
		return strndup(manifest, slash == manifest ? 1 : (size_t)(slash - manifest));
	return strdup(path && !manifest ? path : ".");
}

/* ---- Where the traces are -------------------------------------------------------------------- */

/*
 * Set c->directory. Without a manifest it is that of `from` itself: many commands of cargo need
 * none, as build --help, and cargo says it of the others.
 */
static int find_directory(struct cargo_call *c, const char *from)
{
	_free_ char *top = NULL;
	int err = cargo_workspace__find(from, &top);

	if (err == -ENOENT) {
		top = realpath(from, NULL);
		err = top ? 0 : -errno;
	}
	if (err)
		return diag_error_r(err, "cannot look at %s: %s", from, strerror(-err));
	c->directory = cargo_traces_directory(top);
	return c->directory ? 0 : diag_error_r(-ENOMEM, "out of memory");
}

static char *path_in(const char *directory, const char *name)
{
	char *path;

	return name && asprintf(&path, "%s/%s", directory, name) >= 0 ? path : NULL;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static int make_trace(struct cargo_call *c, char *const words[])
{
	_free_ char *name = NULL;
	struct timespec now;
	int err = xdg__make(c->directory);

	if (err)
		return diag_error_r(
			err,
			"cannot make %s, where traces are kept: %s; set XDG_STATE_HOME to a "
			"directory of yours",
			c->directory, strerror(-err));
	clock_gettime(CLOCK_REALTIME, &now);
	name = cargo_traces_name(words, &now);
	c->trace = path_in(c->directory, name);
	c->records = true;
	return c->trace ? 0 : diag_error_r(-ENOMEM, "out of memory");
}

static int begin_with_sudo(struct cargo_call *c)
{
	c->program = realpath("/proc/self/exe", NULL);
	if (!c->program)
		return diag_error_r(-errno, "cannot find the file of this program: %s",
				    strerror(errno));
	c->sudo = true;
	add(c, "sudo");
	add(c, "--");
	add(c, c->program);
	return 0;
}

/*
 * `words` are options of the recording, up to `command`. Nothing else is printed while cargo has
 * the terminal; the report is ours (cli/cargo_report.h).
 */
static int record(struct cargo_call *c, char *const words[], char *const *command, bool sudo)
{
	bool has_toolchain = **command == '+';
	const char *cargo = has_toolchain ? NULL : getenv("CARGO");
	const char *subcommand = command[has_toolchain];
	_free_ char *from = named_directory(command);
	int err;

	if (!subcommand)
		return CARGO_HELP_NEEDED;
	if (!from)
		return diag_error_r(-ENOMEM, "out of memory");
	err = find_directory(c, from) ?: make_trace(c, words);
	/* Root and a program file with capabilities have the rights. */
	if (!err && sudo && geteuid() && !getauxval(AT_SECURE))
		err = begin_with_sudo(c);
	if (err)
		return err;
	if (!c->sudo)
		add(c, "qprof-bpf");
	add(c, "record");
	for (; words != command; words++)
		if (strcmp(*words, CARGO_QPROF_SUDO))
			add(c, *words);
	if (is_one_of(subcommand, "run", "r"))
		add(c, "--until-run");
	add(c, "--quiet");
	add(c, "--output");
	add(c, c->trace);
	add(c, "--");
	add(c, cargo && *cargo ? cargo : "cargo");
	add_all(c, command);
	return 0;
}

/* ---- What was recorded ----------------------------------------------------------------------- */

static int find_newest(struct cargo_call *c, const struct cargo_word *word)
{
	_cargo_traces_ struct cargo_traces all = CARGO_TRACES_NONE;
	const struct cargo_trace *before;
	int err = find_directory(c, ".");

	if (err)
		return err;
	err = cargo_traces__list(&all, c->directory);
	if (err == -EPERM)
		return diag_error_r(err,
				    "%s belongs to another user; set XDG_STATE_HOME to a "
				    "directory of yours",
				    c->directory);
	if (err && err != -ENOENT)
		return diag_error_r(err, "cannot look into %s: %s%s", c->directory, strerror(-err),
				    diag_step(err, ""));
	if (!all.n)
		return diag_error_r(-ENOENT,
				    "no recording of this workspace is kept; record one in the "
				    "directory of a project: cargo qprof build");
	before = cargo_traces__before(&all, 0);
	if (word->command == CLI_DIFF && !before)
		return diag_error_r(-ENOENT,
				    "of the command that was recorded last there is one recording, "
				    "%s; change something, record the same command again, and "
				    "compare then",
				    all.at[0].name);
	c->trace = path_in(c->directory, all.at[0].name);
	if (word->command == CLI_DIFF)
		c->before = path_in(c->directory, before->name);
	return c->trace && (c->before || word->command != CLI_DIFF)
		       ? 0
		       : diag_error_r(-ENOMEM, "out of memory");
}

/* The path comes first: a word that is one too many is then the user's. */
static int look(struct cargo_call *c, const struct cargo_word *word, char *const words[])
{
	bool is_page = !strcmp(word->name, "page");
	int err = has_help(words) ? 0 : find_newest(c, word);

	if (err)
		return err;
	add(c, "qprof-bpf");
	add(c, cli_command(word->command)->name);
	if (c->before)
		add(c, c->before);
	if (c->trace)
		add(c, c->trace);
	add_all(c, words);
	if (!c->trace || !is_page)
		return 0;
	c->page = cargo_traces_page(c->trace);
	add(c, "--force");
	add(c, "--format=html");
	add(c, "--output");
	add(c, c->page);
	return c->page ? 0 : diag_error_r(-ENOMEM, "out of memory");
}

int cargo_call__of(struct cargo_call *c, char *const words[])
{
	char *const *command = words;
	const struct cargo_word *word;
	bool sudo = false;
	int err;

	if (*words && is_one_of(*words, "--version", "-V")) {
		add(c, "qprof-bpf");
		add(c, "version");
		return end_words(c);
	}
	for (; *command && **command == '-' && !is_help(*command); command++) {
		err = check_option(*command);
		if (err)
			return err;
		sudo |= !strcmp(*command, CARGO_QPROF_SUDO);
	}
	if (!*command)
		return CARGO_HELP_NEEDED;
	if (is_help(*command))
		return CARGO_HELP_ASKED;
	word = cargo_word(*command);
	if (word && command != words)
		return diag_error_r(-EINVAL,
				    "options before %s are those of a recording; its own come "
				    "after it: cargo qprof %s --help",
				    word->name, word->name);
	err = word ? look(c, word, command + 1) : record(c, words, command, sudo);
	return err ?: end_words(c);
}

void cargo_call__clear(struct cargo_call *c)
{
	free(c->argv);
	free(c->program);
	free(c->directory);
	free(c->trace);
	free(c->before);
	free(c->page);
	*c = (struct cargo_call){0};
}

/* ---- Running it ------------------------------------------------------------------------------ */

/* Whether the terminal has sent it to the child too, as it does the signals of its keys. */
static bool is_of_terminal(const siginfo_t *info)
{
	return (info->si_signo == SIGINT || info->si_signo == SIGQUIT) && info->si_code > 0;
}

/*
 * sudo and the recording are root's, and take no signal of ours. Those below them that are ours do:
 * the command, whose end ends the recording, and at first what looks for its toolchain.
 */
static void signal_below(pid_t root, int sig)
{
	struct process_list below = {};

	if (process_list__descendants(root, &below))
		return;
	for (size_t i = 0; i < below.n; i++) {
		_close_ int fd = (int)syscall(SYS_pidfd_open, below.pids[i], 0);

		if (process_uid(below.pids[i]) == getuid() &&
		    process_uid(process_parent(below.pids[i])) == 0)
			syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	}
	process_list__clear(&below);
}

static int wait_for(pid_t child, const sigset_t *taken)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (sigwaitinfo(taken, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD && !is_of_terminal(&info)) {
			if (kill(child, info.si_signo) && errno == EPERM)
				signal_below(child, info.si_signo);
		} else if (info.si_signo == SIGCHLD && waitpid(child, &status, WNOHANG) == child)
			return status;
	}
}

static void run_sudo(const struct cargo_call *c)
{
	launch__restore_signals();
	environ = (char **)first_environ();
	execvp(c->argv[0], c->argv);
	diag_error("cannot run sudo: %s; record as root, or give the program two capabilities: see "
		   "PRIVILEGES in qprof-bpf(1)",
		   strerror(errno));
	_exit(EXIT_CODE_FAILURE);
}

/*
 * A child records, with the rights that we were started with, or with sudo's, which reads our
 * environment meanwhile (proc/sudo_caller.h). What follows needs none.
 */
static int run_recording(const struct cargo_call *c, int (*run)(int argc, char **argv))
{
	const sigset_t taken = signals_of(
		(const int[]){SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, 0});
	sigset_t before;
	pid_t child;
	int status;

	signal(SIGCHLD, SIG_DFL); /* ignored, it would take the status away */
	sigprocmask(SIG_BLOCK, &taken, &before);
	child = fork();
	if (child < 0) {
		diag_error("cannot start a process: %s%s", strerror(errno), diag_step(-errno, ""));
		return EXIT_CODE_FAILURE;
	}
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (c->sudo)
			run_sudo(c);
		return run((int)c->n, c->argv);
	}
	status = wait_for(child, &taken);
	sigprocmask(SIG_SETMASK, &before, NULL);
	setlocale(LC_CTYPE, "");
	if (!cmd_drop_rights())
		cargo_report(c->directory, c->trace, status);
	launch__exit_like(status);
}

/* Its browser may run for long, and needs nothing of ours. Whether it opens the page is not known.
 */
static void open_in_browser(const char *page)
{
	const char *const argv[] = {"xdg-open", page, NULL};
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid;

	if ((!x || !*x) && (!wayland || !*wayland))
		return;
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	if (!posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0) &&
	    !posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO) &&
	    !posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO))
		posix_spawnp(&pid, argv[0], &files, &attributes, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
}

int cargo_qprof_main(char **argv, int (*run)(int argc, char **argv))
{
	_cargo_call_ struct cargo_call c = {};
	_invoker_ struct invoker inv = {};
	/* cargo passes on its subcommand's name. */
	char **words = argv + 1 + (argv[1] && !strcmp(argv[1], "qprof"));
	int err = invoker__get(&inv), status;

	/* Files are the invoker's, and so is the home that they are in. */
	if (!err && inv.sudo)
		err = setenv("HOME", inv.home, 1) ? -ENOMEM : invoker__take_file_rights(&inv);
	if (err) {
		diag_error("cannot find out which user this is for: %s", strerror(-err));
		return EXIT_CODE_FAILURE;
	}
	err = cargo_call__of(&c, words);
	invoker__return_file_rights(&inv);
	if (err > 0) {
		cargo_qprof_print_help(err == CARGO_HELP_ASKED ? stdout : stderr);
		return err == CARGO_HELP_ASKED ? cmd_finish_stdout(EXIT_CODE_OK) : EXIT_CODE_USAGE;
	}
	if (err)
		return err == -EINVAL ? EXIT_CODE_USAGE : EXIT_CODE_FAILURE;
	if (c.records)
		return run_recording(&c, run);
	status = run((int)c.n, c.argv);
	if (status || !c.page)
		return status;
	open_in_browser(c.page);
	puts(c.page);
	return cmd_finish_stdout(EXIT_CODE_OK);
}
