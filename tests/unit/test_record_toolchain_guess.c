// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "record/toolchain_guess.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/array.h"
#include "plan/plan.h"

#include "../fixtures/directory.h"
#include "../fixtures/output.h"

static char *const make[] = {(char *)"make", NULL};

/* Put a rustc first on the PATH. */
static void fake_rustc(const char *script)
{
	char path[256];

	output_write(directory_path("rustc"), script);
	assert_int_equal(chmod(directory_path("rustc"), 0755), 0);
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", directory);
	setenv("PATH", path, 1);
}

TEST_CASE(its_error_is_that_of_asking)
{
	struct toolchain_guess l = {};
	const char *path;

	fake_rustc("#!/bin/sh\nexit 1\n");
	toolchain_guess__start(&l, make);
	assert_int_equal(toolchain_guess__finish(&l, &path), -EIO);
	assert_null(path);
	toolchain_guess__clear(&l);
}

/* A child of it that keeps its output is in no process group that it could be ended by. */
TEST_CASE(a_rustc_that_never_answers_is_given_up)
{
	static const char *const scripts[] = {
		"#!/bin/sh\nexec sleep 1000\n",
		"#!/bin/sh\ntrap '' TERM; while :; do sleep 1; done\n",
		"#!/bin/sh\nsetsid cat ${0%rustc}never\nsleep 1000\n",
		"#!/bin/sh\necho /nowhere\nexec sleep 1000\n",
	};
	int never;

	assert_int_equal(mkfifo(directory_path("never"), 0600), 0);
	never = open(directory_path("never"), O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < N_OF(scripts); i++) {
		struct toolchain_guess l = {};
		const char *path;

		fake_rustc(scripts[i]);
		alarm(60);
		toolchain_guess__start(&l, make);
		usleep(100000);
		toolchain_guess__give_up(&l);
		assert_int_equal(toolchain_guess__finish(&l, &path), -ETIME);
		assert_null(path);
		toolchain_guess__clear(&l);
		alarm(0);
	}
	close(never);
}

/* The command has the same errors, and tells them itself. */
TEST_CASE(its_errors_are_not_printed)
{
	struct toolchain_guess l = {};
	const char *path;
	char text[64];
	int said[2], ours = dup(STDERR_FILENO);

	assert_int_equal(pipe2(said, O_NONBLOCK), 0);
	fake_rustc("#!/bin/sh\necho no >&2; [ $RUSTUP_AUTO_INSTALL = 0 ] && exit 1; echo /\n");
	dup2(said[1], STDERR_FILENO);
	toolchain_guess__start(&l, make);
	assert_int_equal(toolchain_guess__finish(&l, &path), -EIO);
	dup2(ours, STDERR_FILENO);
	close(ours);
	close(said[1]);
	assert_int_equal(read(said[0], text, sizeof(text)), 0);
	close(said[0]);
	toolchain_guess__clear(&l);
}

TEST_CASE(nothing_is_left_to_clear)
{
	struct toolchain_guess l = {};

	toolchain_guess__clear(&l);
	assert_int_equal(toolchain_guess__done_fd(&l), -1);
}

TEST_CASE(parts_are_expected_by_arguments_and_flags)
{
	char *const with[] = {(char *)"rustc", (char *)"-Zthreads=4", NULL};

	assert_int_equal(toolchain_guess_parts(with), PLAN_PART_BIT(PLAN_PART_THREADS));
	assert_int_equal(toolchain_guess_parts(make), 0);
	assert_int_equal(toolchain_guess_parts(NULL), 0);
	setenv("RUSTFLAGS", "-g -Zthreads=2 -Cincremental=x", 1);
	assert_int_equal(toolchain_guess_parts(make), PLAN_PARTS_OPTIONAL);
	unsetenv("RUSTFLAGS");
}

#define WORDS_MOST 8

/* Whether incremental compilation is expected of a command of words. */
static bool is_incremental(const char *command)
{
	char copy[128], *argv[WORDS_MOST + 1] = {NULL};
	unsigned int n = 0;
	uint32_t parts;

	snprintf(copy, sizeof(copy), "%s", command);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		assert_true(n < WORDS_MOST);
		argv[n++] = word;
	}
	parts = toolchain_guess_parts(argv);
	assert_false(parts & ~PLAN_PART_BIT(PLAN_PART_INCREMENTAL));
	return parts;
}

TEST_CASE(cargo_compiles_incrementally_unless_it_optimizes)
{
	unsetenv("CARGO_INCREMENTAL");
	assert_true(is_incremental("cargo build"));
	assert_true(is_incremental("/usr/bin/cargo +nightly -C dir check --all"));
	assert_true(is_incremental("cargo t --profile test -- --release"));
	assert_true(is_incremental("cargo run --profile=dev"));
	assert_false(is_incremental("cargo build --release"));
	assert_false(is_incremental("cargo -q build -r"));
	assert_false(is_incremental("cargo build --profile release"));
	assert_false(is_incremental("cargo rustc --profile=bench"));
	assert_false(is_incremental("cargo bench"));
	assert_false(is_incremental("cargo metadata build"));
	assert_false(is_incremental("cargo -C"));
	assert_false(is_incremental("cargo"));
	assert_false(is_incremental("make build"));
}

TEST_CASE(a_variable_of_cargo_says_more_than_the_profile)
{
	setenv("CARGO_INCREMENTAL", "0", 1);
	assert_false(is_incremental("cargo build"));
	setenv("CARGO_INCREMENTAL", "1", 1);
	assert_true(is_incremental("cargo build --release"));
	assert_false(is_incremental("make"));
	setenv("CARGO_INCREMENTAL", "", 1);
	assert_false(is_incremental("cargo build --release"));
	unsetenv("CARGO_INCREMENTAL");
}

/* A program that execs us may leave children behind: they become our children, and stay. */
TEST_CASE(only_what_was_asked_is_ended)
{
	char script[256], byte;
	struct toolchain_guess l = {};
	int begun[2], status;
	pid_t other = fork();

	if (!other) {
		pause();
		_exit(0);
	}
	/* The script's child inherits its standard output and would outlive the script. */
	assert_int_equal(pipe(begun), 0);
	snprintf(script, sizeof(script), "#!/bin/sh\nsleep 1000 &\necho >&%d\nwait\n", begun[1]);
	fake_rustc(script);
	toolchain_guess__start(&l, make);
	assert_int_equal(read(begun[0], &byte, 1), 1);
	close(begun[0]);
	close(begun[1]);
	toolchain_guess__clear(&l);
	assert_int_equal(waitpid(other, &status, WNOHANG), 0);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

TEST_MAIN(directory_make, directory_remove)
