// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/outsiders.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/output.h"

#define IS(client, compiler) outsiders_is_client(client, sizeof(client), compiler, sizeof(compiler))

#define CRATE "--crate-name\0serde\0-C\0metadata=12\0-C\0extra-filename=-12\0--out-dir\0/t/deps"

TEST_CASE(a_client_is_one_of_the_same_compile)
{
	/* A client has the compilers arguments. */
	assert_true(IS("sccache\0/usr/bin/rustc\0" CRATE, "/usr/bin/rustc\0" CRATE));
	/* In another order, and with more of them. */
	assert_true(IS("sccache\0rustc\0" CRATE, "rustc\0--out-dir=/t/deps\0"
						 "-Cextra-filename=-12\0--crate-name=serde\0"
						 "--color\0always"));
	/* As sccache asks for the sources of the crate. */
	assert_true(IS("sccache\0rustc\0" CRATE,
		       "rustc\0--crate-name\0serde\0-C\0extra-filename=-12\0--emit\0dep-info"));
	/* It is of the same crate and build. */
	assert_false(IS("sccache\0rustc\0" CRATE,
			"rustc\0--crate-name\0syn\0-C\0extra-filename=-12\0--out-dir\0/t/deps"));
	assert_false(IS("sccache\0rustc\0" CRATE,
			"rustc\0--crate-name\0serde\0-C\0extra-filename=-13\0--out-dir\0/t/deps"));
	assert_false(IS("sccache\0rustc\0" CRATE,
			"rustc\0--crate-name\0serde\0-C\0extra-filename=-12\0--out-dir\0/u/deps"));
	/* An option that both lack proves nothing. */
	assert_false(IS("sccache\0rustc\0-vV", "rustc\0-vV"));
	assert_false(IS("sccache\0rustc\0--crate-name\0a", "rustc\0--crate-name\0a"));
	/* A compiler is no client. */
	assert_false(IS("/usr/bin/rustc\0" CRATE, "/usr/bin/rustc\0" CRATE));
	assert_false(IS("sccache\0" CRATE, "rustc\0" CRATE));
	assert_false(IS("", "rustc\0" CRATE));
}

static struct broker *broker;
static struct outsiders *o;
static struct output said;

static int begin(void **state)
{
	said = (struct output){};
	return broker__new(&broker) ?: outsiders__new(NULL, broker, &o);
}

static int finish(void **state)
{
	output_free(&said);
	outsiders__free(o);
	broker__free(broker);
	return 0;
}

/* A process that waits for its end, with these raw arguments. */
static pid_t start(char *const argv[])
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		execv("/bin/sh", argv);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Its arguments are those of the test until it has executed the shell. */
static void wait_for_shell(pid_t pid, const char *first)
{
	bool is_shell = false;

	while (!is_shell) {
		_arguments_ struct arguments args = {0};

		assert_int_equal(broker__arguments(broker, pid, &args), 0);
		is_shell = args.size && !strcmp(args.bytes, first);
	}
}

static void execute(pid_t pid, const char *args, size_t size)
{
	struct wire_exec e = {.pid = (wire_u32)pid, .args_len = (wire_u32)size};

	memcpy(e.args, args, size);
	assert_int_equal(outsiders__on_exec(o, &e), 0);
}

static char *const stopped[] = {"sh", "-c", "kill -STOP $$", NULL};

#define EXECUTE(pid, args) execute(pid, args, sizeof(args))

TEST_CASE_WITH(a_compiler_may_serve_while_a_client_of_its_user_runs, begin, finish)
{
	pid_t client;

	assert_false(outsiders__may_serve(o, 1, getuid()));
	client = start(stopped);
	EXECUTE(client, "cargo\0build");
	assert_false(outsiders__may_serve(o, 1, getuid()));
	EXECUTE(client, "sccache\0rustc\0" CRATE);
	assert_true(outsiders__may_serve(o, 1, getuid()));
	assert_false(outsiders__may_serve(o, 1, getuid() + 1));
	/* It may execute another program, or end. */
	EXECUTE(client, "true\0");
	assert_false(outsiders__may_serve(o, 1, getuid()));
	EXECUTE(client, "sccache\0rustc\0" CRATE);
	end(client);
	assert_false(outsiders__may_serve(o, 1, getuid()));
}

TEST_CASE_WITH(a_compiler_serves_a_client_with_its_arguments, begin, finish)
{
	char *const argv[] = {"rustc",	 "-c", "kill -STOP $$",	     "--crate-name",
			      "serde",	 "-C", "extra-filename=-12", "--out-dir",
			      "/t/deps", NULL};
	pid_t client, compiler;

	client = start(stopped);
	compiler = start(argv);
	wait_for_shell(compiler, "rustc");
	EXECUTE(client, "sccache\0rustc\0" CRATE);
	assert_true(outsiders__serves(o, compiler, getuid()));
	/* Again, as for its second mapping. */
	assert_true(outsiders__may_serve(o, compiler, getuid()));
	assert_true(outsiders__serves(o, compiler, getuid()));
	end(compiler);
	end(client);
}

/* Of one that has ended nothing is known: while a client runs it may have been the client's. */
TEST_CASE_WITH(a_compiler_that_has_ended_may_have_served, begin, finish)
{
	pid_t client, ended[2];

	for (int i = 0; i < 2; i++) {
		ended[i] = start(stopped);
		end(ended[i]);
	}
	assert_false(outsiders__serves(o, ended[0], getuid()));
	client = start(stopped);
	EXECUTE(client, "sccache\0rustc\0" CRATE);
	assert_false(outsiders__serves(o, ended[1], getuid()));
	end(client);
	output_begin(&said);
	outsiders__report(o);
	output_end(&said);
	assert_contains(
		said.text[1],
		"warning: not recorded: 1 compiler that others started, and that ended before ");
	assert_one_line(said.text[1]);
}

/* The record of its exec, which only a followed process has, is read later. */
TEST_CASE_WITH(a_followed_compiler_that_has_ended_has_not_served, begin, finish)
{
	pid_t client, ended;

	ended = start(stopped);
	end(ended);
	client = start(stopped);
	EXECUTE(client, "xargs\0-P64\0rustc\0" CRATE);
	assert_false(outsiders__serves(o, ended, getuid()));
	EXECUTE(ended, "rustc\0" CRATE);
	end(client);
	output_begin(&said);
	outsiders__report(o);
	output_end(&said);
	assert_string_equal(said.text[1], "");
}

TEST_MAIN(NULL, NULL)
