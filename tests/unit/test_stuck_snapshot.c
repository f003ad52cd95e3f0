// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/snapshot.h"

#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

TEST_CASE(programs_go_by_their_names)
{
	static const char *const linkers[] = {"cc",	  "x86_64-linux-gnu-gcc-12",
					      "clang-14", "ld.bfd",
					      "rust-lld", "ld",
					      "collect2", "mold",
					      "g++",	  "ld.lld-14"};
	static const char *const others[] = {"cc1", "accc", "cargo",	    "sh",
					     "",    "-",    "rustc-wrapper"};

	for (size_t i = 0; i < N_OF(linkers); i++) {
		assert_int_equal(other_kind_of(linkers[i], true), OTHER_LINKER);
		assert_int_equal(other_kind_of(linkers[i], false), OTHER_PROGRAM);
	}
	for (size_t i = 0; i < N_OF(others); i++)
		assert_int_equal(other_kind_of(others[i], true), OTHER_PROGRAM);
	assert_int_equal(other_kind_of("build-script-build", false), OTHER_BUILD_SCRIPT);
	assert_int_equal(other_kind_of("rustc", true), OTHER_COMPILER);
	assert_int_equal(other_kind_of("rustdoc", false), OTHER_COMPILER);
	assert_string_equal(other_kind_name(OTHER_BUILD_SCRIPT), "build script");
}

static struct broker *broker;

static int open_look(void **state)
{
	return broker__new(&broker);
}

static int close_look(void **state)
{
	broker__free(broker);
	return 0;
}

/* Run a build script that ends when the other end of the pipe is closed. */
static pid_t start_script(const char *path, int until)
{
	char *const argv[] = {(char *)path, NULL};
	char *const env[] = {(char *)"A=b", (char *)"CARGO_PKG_NAME=a-package", NULL};
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(until, STDIN_FILENO);
	execve(path, argv, env);
	_exit(127);
}

/*
 * The child may not have executed the program yet, or its arguments and environment may not be
 * there yet. The arguments are read first, so they can be missing while the environment is there.
 */
static int read_script(struct other *o, pid_t pid)
{
	for (int ms = 0;; ms++) {
		int err = other__read(o, broker, pid, false);
		bool is_whole = o->kind == OTHER_BUILD_SCRIPT && o->subject && o->command;

		if (err || is_whole || ms >= 30000)
			return err;
		other__clear(o);
		usleep(1000);
	}
}

TEST_CASE(a_build_script_has_a_package)
{
	char dir[] = "/tmp/qprof-test-XXXXXX", path[64];
	struct other o;
	int pipes[2];
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/build-script-build", dir);
	must(symlink("/bin/cat", path), pipe(pipes));
	pid = start_script(path, pipes[0]);
	assert_int_equal(read_script(&o, pid), 0);
	assert_struct(o, pid, pid, parent, getpid());
	assert_non_null(o.subject);
	assert_string_equal(o.subject, "a-package");
	assert_non_null(o.command);
	assert_string_equal(o.command, path);
	assert_non_null(strchr("RSD", o.state));
	other__clear(&o);
	kill(pid, SIGKILL);
	/* The process is a zombie. */
	assert_int_equal(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(other__read(&o, broker, pid, false), -ESRCH);
	other__clear(&o);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	unlink(path);
	rmdir(dir);
}

TEST_CASE(a_missing_process_is_not_found)
{
	struct other o;

	assert_int_equal(other__read(&o, broker, INT_MAX, false), -ESRCH);
	other__clear(&o);
}

int main(void)
{
	/* On a busy machine the child of a look may take long to answer. */
	broker_ns = 60000000000;
	return test_cases__run(open_look, close_look);
}
