// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/first_environ.h"
#include "base/invoker.h"
#include "base/rights.h"
#include "cli/cargo_qprof.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "options/command.h"
#include "options/parse.h"
#include "options/usage.h"
#include "proc/sudo_caller.h"
#include "record/launch.h"

static int dispatch(const struct cli *cli)
{
	if (cli->show_version)
		return cmd_version(&cli->version);
	if (cli->show_help) {
		if (cli->command_named)
			cli_print_help(stdout, cli->command);
		else
			cli_print_overview(stdout);
		return cmd_finish_stdout(EXIT_CODE_OK);
	}
	switch (cli->command) {
#define CASE(id, name) \
	case CLI_##id: \
		return cmd_##name(&cli->name);
		CLI_COMMANDS(CASE)
#undef CASE
	case CLI_N_COMMANDS:
		break;
	}
	return EXIT_CODE_USAGE;
}

/*
 * The first file that is opened would get the number of a closed descriptor, and messages would go
 * there. So something that can be neither read, written nor polled holds the number, as a closed
 * one cannot. It is closed by exec: the command has the descriptors that we were given.
 */
static int hold_closed_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) != fd)
			return diag_error_r(-EBADF,
					    "cannot run with descriptor %d closed; "
					    "redirect it to /dev/null",
					    fd);
	return 0;
}

/* A frame has up to 130 KiB, of answers of the child that looks at processes. */
#define STACK_LEAST (256u << 10)

/* What sudo took from the environment, the command that is recorded is to have. */
static int take_environ_of_caller(void)
{
	_invoker_ struct invoker inv = {};
	int err = invoker__get(&inv);
	char **env = err || !inv.sudo ? NULL : sudo_caller__environ(inv.uid);

	if (env)
		environ_before_sudo__set(env);
	else if (!err && inv.sudo && errno == EPERM)
		diag_warn("the environment from before sudo cannot be read, as the program file "
			  "may not be: "
			  "the command has the one that sudo gives; chmod go+r the file");
	return err;
}

/*
 * Settle the rights before anything is opened. A command that needs rights drops them itself, as
 * soon as it can. Until then, libraries see only environment variables that are safe in a
 * privileged process.
 */
static int settle_rights(const struct cli *cli)
{
	int err;

	if (cli->show_version || cli->show_help || !cli_command(cli->command)->needs_rights)
		return cmd_drop_rights();
	err = take_environ_of_caller() ?: first_environ__restrict();
	return err ? diag_error_r(err, "out of memory") : 0;
}

static int run_line(int argc, char **argv)
{
	_cli_ struct cli cli = {};

	if (cli_parse(argc, argv, &cli))
		return EXIT_CODE_USAGE;
	cmd_set_limits(!cli.no_limits);
	diag_set_level(cli.record.quiet ? DIAG_QUIET : (enum diag_level)cli.verbose);
	if (settle_rights(&cli))
		return EXIT_CODE_FAILURE;
	setlocale(LC_CTYPE, ""); /* the widths of characters */
	return dispatch(&cli);
}

int main(int argc, char **argv)
{
	struct rlimit stack;

	if (hold_closed_descriptors())
		return EXIT_CODE_FAILURE;
	/* While the environment is still the one for a launched command. */
	if (first_environ__save(argc, argv))
		diag_warn("cannot save the environment that a command would have without us");
	launch__save_signals();
	/* A file that exceeds RLIMIT_FSIZE is handled like a full disk: by an error line. */
	signal(SIGXFSZ, SIG_IGN);
	/* It would end any command by a signal, in the middle of a recording. */
	if (!getrlimit(RLIMIT_STACK, &stack) && stack.rlim_cur < STACK_LEAST) {
		diag_error("cannot run with a stack of less than 256 KiB; raise its limit (ulimit "
			   "-s)");
		return EXIT_CODE_FAILURE;
	}
	/* With a set-user-ID file, every user of the program would be root. */
	if (rights__are_set_id()) {
		diag_error("the program file must not be set-user-ID or set-group-ID: every user "
			   "could become root; remove the bit, and give it capabilities: setcap "
			   "cap_bpf,cap_perfmon+ep FILE");
		return EXIT_CODE_FAILURE;
	}
	return cargo_qprof_is(argv) ? cargo_qprof_main(argv, run_line) : run_line(argc, argv);
}
