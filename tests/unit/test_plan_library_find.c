// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "plan/library/find.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../fixtures/output.h"

/* Of each test: a toolchain, and the path that is found. */
static char top[64];
static char *path, *old_path;

/* A path below this test's directory; valid for two more calls. */
static const char *at(const char *name)
{
	static char paths[3][256];
	static int next;
	char *path = paths[next++ % 3];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void make_file(const char *name, const char *text, mode_t mode)
{
	output_write(at(name), text);
	assert_int_equal(chmod(at(name), mode), 0);
}

static int set_up(void **state)
{
	char *real;

	strcpy(top, "/tmp/qprof-test-find-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	real = realpath(top, NULL);
	strcpy(top, real);
	free(real);
	path = NULL;
	old_path = strdup(getenv("PATH"));
	unsetenv("SUDO_UID");
	return mkdir(at("bin"), 0755) || mkdir(at("lib"), 0755);
}

static int tear_down(void **state)
{
	char command[128];

	free(path);
	setenv("PATH", old_path, 1);
	free(old_path);
	snprintf(command, sizeof(command), "rm -r %s", top);
	return system(command);
}

/* The path of `wanted` is found; NULL: any. */
static void assert_found(int err, const char *wanted)
{
	assert_int_equal(err, 0);
	if (wanted)
		assert_string_equal(path, wanted);
	free(path);
	path = NULL;
}

static int find_in(const char *text, char *range)
{
	FILE *maps = fmemopen((char *)text, strlen(text), "r");
	int err = plan_find__in_maps(maps, &path, range);

	fclose(maps);
	return err;
}

TEST_CASE_WITH(the_library_is_distinguished_from_its_neighbours, set_up, tear_down)
{
	static const char maps[] =
		"55d0-55d9 r--p 00000000 08:01 42    /opt/rust/bin/rustc\n"
		"7f00-7f10 rw-p 00000000 00:00 0 \n"
		"7f10-7f20 r--p 00000000 08:01 43    /opt/librustc_driver-1.so.d/libLLVM.so\n"
		"7f20-7f30 r--p 00000000 08:01 44    /opt/my rust/lib/librustc_driver-6108.so\n"
		"7f30-7f40 r-xp 00001000 08:01 44    /opt/my rust/lib/librustc_driver-6108.so\n"
		"7fff-8000 rw-p 00000000 00:00 0     [stack]\n";
	char range[40];

	assert_found(find_in(maps, range), "/opt/my rust/lib/librustc_driver-6108.so");
	assert_string_equal(range, "7f20-7f30");
	/* A deleted one is found. */
	assert_found(
		find_in("7f20-7f30 r--p 0 08:01 44 /a/librustc_driver-1.so (deleted)\n", range),
		"/a/librustc_driver-1.so (deleted)");
	assert_int_equal(find_in("7f20-7f30 r--p 0 08:01 44 /a/libc.so.6\n", range), -ENOENT);
	assert_int_equal(find_in("garbage\n\n7f20-7f30 r--p\n", range), -ENOENT);
	assert_null(path);
}

static void *map_library(const char *name)
{
	int fd = open(at(name), O_RDONLY | O_CLOEXEC);
	void *map;

	assert_true(fd >= 0);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	return map;
}

TEST_CASE_WITH(our_own_mapping_is_found, set_up, tear_down)
{
	void *map;

	assert_int_equal(plan_find__of_pid(getpid(), &path), -ENOENT);
	make_file("lib/librustc_driver-77.so", "x", 0644);
	map = map_library("lib/librustc_driver-77.so");
	assert_found(plan_find__of_pid(getpid(), &path), at("lib/librustc_driver-77.so"));
	munmap(map, 4096);
}

TEST_CASE_WITH(another_file_under_the_name_is_not_what_is_mapped, set_up, tear_down)
{
	_library_file_ struct library_file *mapped = NULL, *other = NULL;
	void *map;
	int err;

	make_file("lib/librustc_driver-78.so", "x", 0644);
	map = map_library("lib/librustc_driver-78.so");
	assert_int_equal(library_file__try(at("lib/librustc_driver-78.so"), &mapped), 0);
	unlink(at("lib/librustc_driver-78.so"));
	make_file("lib/librustc_driver-78.so", "x", 0644);
	assert_int_equal(library_file__try(at("lib/librustc_driver-78.so"), &other), 0);
	unlink(at("lib/librustc_driver-78.so"));
	assert_int_equal(plan_find__check_mapped(getpid(), mapped), 0);
	err = plan_find__check_mapped(getpid(), other);
	munmap(map, 4096);
	/* It takes CAP_CHECKPOINT_RESTORE. */
	if (!err && geteuid())
		skip();
	assert_int_equal(err, -ESTALE);
}

TEST_CASE_WITH(processes_that_are_gone_are_reported, set_up, tear_down)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	/* A zombie is still in /proc. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(plan_find__of_pid(pid, &path), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(plan_find__of_pid(pid, &path), -ESRCH);
	assert_null(path);
}

TEST_CASE_WITH(an_executable_leads_to_its_library, set_up, tear_down)
{
	make_file("bin/rustc", "linked to librustc_driver-b.so", 0755);
	assert_int_equal(plan_find__of_exe(at("bin/rustc"), &path), -ENOENT);
	make_file("lib/librustc_driver-a.so", "a", 0644);
	make_file("lib/librustc_driver-c.so", "c", 0644);
	assert_int_equal(symlink("bin/rustc", at("link")), 0);
	assert_found(plan_find__of_exe(at("link"), &path), at("lib/librustc_driver-a.so"));
	/* If there are several, the compiler contains the name of its library. */
	make_file("lib/librustc_driver-b.so", "b", 0644);
	output_write(at("bin/rustc"), "linked to librustc_driver-b.so");
	assert_int_equal(truncate(at("bin/rustc"), 31), 0);
	assert_found(plan_find__of_exe(at("bin/rustc"), &path), at("lib/librustc_driver-b.so"));
	assert_int_equal(plan_find__of_exe(at("nope"), &path), -ENOENT);
	assert_int_equal(plan_find__of_exe(at("lib/librustc_driver-a.so"), &path), -ENOENT);
	assert_null(path);
}

/* Opening a FIFO like a file would block for ever. */
TEST_CASE_WITH(a_fifo_in_the_compilers_place_is_passed_over, set_up, tear_down)
{
	make_file("bin/other", "", 0755);
	assert_int_equal(mkfifo(at("bin/rustc"), 0600), 0);
	make_file("lib/librustc_driver-a.so", "a", 0644);
	make_file("lib/librustc_driver-b.so", "b", 0644);
	assert_found(plan_find__of_exe(at("bin/other"), &path), at("lib/librustc_driver-a.so"));
}

TEST_CASE_WITH(debians_place_is_known, set_up, tear_down)
{
	make_file("bin/rustc", "", 0755);
	assert_int_equal(mkdir(at("lib/x86_64-linux-gnu"), 0755), 0);
	make_file("lib/x86_64-linux-gnu/librustc_driver-d.so", "d", 0644);
	assert_found(plan_find__of_exe(at("bin/rustc"), &path),
		     at("lib/x86_64-linux-gnu/librustc_driver-d.so"));
}

/* A script as the first rustc in PATH. */
static void fake_rustc(const char *script)
{
	char text[512];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	make_file("bin/rustc", text, 0755);
	setenv("PATH", at("bin"), 1);
}

TEST_CASE_WITH(the_toolchain_is_asked, set_up, tear_down)
{
	char script[256];

	make_file("lib/librustc_driver-e.so", "e", 0644);
	snprintf(script, sizeof(script), "[ \"$*\" = '--print sysroot' ] && echo %s", top);
	fake_rustc(script);
	assert_found(plan_find__of_toolchain("rustc", NULL, NULL, &path),
		     at("lib/librustc_driver-e.so"));
	snprintf(script, sizeof(script), "[ \"$*\" = '+nightly --print sysroot' ] && echo %s", top);
	fake_rustc(script);
	assert_found(plan_find__of_toolchain("rustc", "nightly", NULL, &path), NULL);
	unlink(at("lib/librustc_driver-e.so"));
	assert_int_equal(plan_find__of_toolchain("rustc", "nightly", NULL, &path), -ENODATA);
}

/* `rustc` and `rustup` are one program, as rustup installs them. */
TEST_CASE_WITH(a_proxy_is_asked_as_rustup, set_up, tear_down)
{
	char script[256];

	assert_int_equal(symlink("rustup", at("bin/rustc")), 0);
	setenv("PATH", at("bin"), 1);
	make_file("lib/librustc_driver-g.so", "g", 0644);
	snprintf(script, sizeof(script),
		 "#!/bin/sh\n[ \"$*\" = '+nightly which rustc' ] && echo %s/bin/rustc\n", top);
	make_file("bin/rustup", script, 0755);
	assert_found(plan_find__of_toolchain("rustc", "nightly", NULL, &path),
		     at("lib/librustc_driver-g.so"));
	assert_int_equal(plan_find__of_toolchain("rustc", NULL, NULL, &path), -EIO);

	/* Without an answer of rustup, the proxy is asked as any rustc. */
	snprintf(script, sizeof(script), "#!/bin/sh\n[ \"$1\" = --print ] && echo %s\n", top);
	make_file("bin/rustup", script, 0755);
	assert_found(plan_find__of_toolchain("rustc", NULL, NULL, &path), NULL);

	/* Another program beside it is not its rustup. */
	unlink(at("bin/rustc"));
	make_file("bin/rustup", "#!/bin/sh\necho /nonexistent/bin/rustc\n", 0755);
	snprintf(script, sizeof(script), "echo %s", top);
	fake_rustc(script);
	assert_found(plan_find__of_toolchain("rustc", NULL, NULL, &path), NULL);
}

/* stdin belongs to the recorded command, or is a terminal, which would stop the reader. */
TEST_CASE_WITH(a_queried_compiler_gets_none_of_our_input, set_up, tear_down)
{
	int in[2], ours = dup(STDIN_FILENO);
	char byte;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(write(in[1], "x", 1), 1);
	close(in[1]);
	dup2(in[0], STDIN_FILENO);
	close(in[0]);
	make_file("lib/librustc_driver-f.so", "f", 0644);
	fake_rustc("read word; echo \"${0%/bin/rustc}$word\"");
	assert_found(plan_find__of_toolchain("rustc", NULL, NULL, &path), NULL);
	assert_int_equal(read(STDIN_FILENO, &byte, 1), 1);
	dup2(ours, STDIN_FILENO);
	close(ours);
}

/* A wrapper may start a server that keeps its output: without a limit this test would not end. */
TEST_CASE_WITH(only_the_first_line_is_waited_for, set_up, tear_down)
{
	static const char *const more[] = {"echo $top; /usr/bin/sleep 60 2>/dev/null &",
					   "while echo $top; do :; done",
					   "printf $top; /usr/bin/sleep 60 2>/dev/null &"};
	char script[256];

	make_file("lib/librustc_driver-h.so", "h", 0644);
	for (size_t i = 0; i < N_OF(more); i++) {
		snprintf(script, sizeof(script), "top=%s; %s", top, more[i]);
		fake_rustc(script);
		alarm(30);
		assert_found(plan_find__of_toolchain("rustc", NULL, NULL, &path), NULL);
		alarm(0);
	}
}

TEST_CASE_WITH(a_toolchain_that_fails_is_distinguished_from_none, set_up, tear_down)
{
	fake_rustc("exit 1");
	assert_int_equal(plan_find__of_toolchain("rustc", NULL, NULL, &path), -EIO);
	fake_rustc("echo not a path");
	assert_int_equal(plan_find__of_toolchain("rustc", NULL, NULL, &path), -EIO);
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(plan_find__of_toolchain("rustc", NULL, NULL, &path), -ENOENT);
	assert_null(path);
	assert_contains(plan_find__toolchain_error(-ENOENT), "rustup");
	assert_contains(plan_find__toolchain_error(-EIO), "sysroot");
	assert_contains(plan_find__toolchain_error(-ENODATA), "librustc_driver");
}

TEST_MAIN(NULL, NULL)
