// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/processes.h"
#include "proc/programs.h"
#include "proc/command_line.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <limits.h>

#include "test.h"
#include "base/cleanup.h"

/* A name that a careless reader of /proc/PID/stat takes for its other fields. */
#define NASTY_NAME ") Z 1 (x) y"

/* A child with two children and one grandchild; all sleep until they are killed. */
enum { ROOT, LEFT, RIGHT, GRANDCHILD, N_TREE };

static pid_t *tree; /* in shared memory */

static pid_t grow(int at, const char *name)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	if (at == ROOT) {
		tree[LEFT] = grow(LEFT, NASTY_NAME);
		tree[RIGHT] = grow(RIGHT, "(a)");
	}
	if (at == LEFT)
		tree[GRANDCHILD] = grow(GRANDCHILD, "a b");
	__atomic_fetch_add(&tree[N_TREE], 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static int plant(void **state)
{
	tree = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tree[ROOT] = grow(ROOT, "root");
	while (__atomic_load_n(&tree[N_TREE], __ATOMIC_ACQUIRE) < N_TREE)
		usleep(1000);
	return 0;
}

/* PR_SET_PDEATHSIG kills the others. */
static int fell(void **state)
{
	kill(tree[ROOT], SIGKILL);
	waitpid(tree[ROOT], NULL, 0);
	return munmap(tree, 4096);
}

static bool has(const struct process_list *list, pid_t pid)
{
	int n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->pids[i] == pid;
	assert_in_range(n, 0, 1);
	return n;
}

TEST_CASE(a_tree_is_listed_from_its_root)
{
	__cleanup(process_list__clear) struct process_list list;

	assert_int_equal(process_list__descendants(tree[ROOT], &list), 0);
	assert_int_equal(list.n, N_TREE);
	assert_int_equal(list.pids[0], tree[ROOT]);
	for (int i = 0; i < N_TREE; i++)
		assert_true(has(&list, tree[i]));
	process_list__clear(&list);
	assert_int_equal(list.n, 0);
}

TEST_CASE(a_branch_has_only_what_grows_on_it)
{
	__cleanup(process_list__clear) struct process_list list;

	assert_int_equal(process_list__descendants(tree[LEFT], &list), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.pids[0], tree[LEFT]);
	assert_int_equal(list.pids[1], tree[GRANDCHILD]);
	process_list__clear(&list);
	assert_int_equal(process_list__descendants(tree[RIGHT], &list), 0);
	assert_int_equal(list.n, 1);
}

TEST_CASE(a_name_may_hold_anything)
{
	uint64_t ticks = 0;
	pid_t session = 0;
	char name[32];

	assert_int_equal(process_parent(tree[ROOT]), getpid());
	assert_int_equal(process_parent(tree[LEFT]), tree[ROOT]);
	assert_int_equal(process_parent(tree[RIGHT]), tree[ROOT]);
	assert_int_equal(process_parent(tree[GRANDCHILD]), tree[LEFT]);
	assert_true(process_is_running(tree[LEFT]));
	assert_true(process_session(tree[LEFT], &session, &ticks));
	assert_int_equal(session, getsid(0));
	assert_true(ticks > 0);
	process_name(tree[LEFT], name, sizeof(name));
	assert_string_equal(name, NASTY_NAME);
	process_name(tree[GRANDCHILD], name, 3);
	assert_string_equal(name, "a ");
}

TEST_CASE(a_process_that_is_gone)
{
	__cleanup(process_list__clear) struct process_list list;
	char buf[64];
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	while (process_is_running(pid))
		usleep(1000);
	/* A zombie: it has a parent, but neither arguments nor an executable. */
	assert_int_equal(process_parent(pid), getpid());
	assert_int_equal(process_arguments(pid, buf, sizeof(buf)), 0);
	assert_null(process_executable(pid));
	waitpid(pid, NULL, 0);
	assert_false(process_is_running(pid));
	assert_int_equal(process_parent(pid), 0);
	assert_int_equal(process_arguments(pid, buf, sizeof(buf)), 0);
	assert_null(process_executable(pid));
	process_name(pid, buf, sizeof(buf));
	assert_string_equal(buf, "?");
	assert_int_equal(process_list__descendants(pid, &list), -ESRCH);
	assert_false(process_session(pid, &(pid_t){0}, &(uint64_t){0}));
}

TEST_CASE(arguments_and_executable_of_another)
{
	_free_ char *ours = realpath("/bin/sh", NULL);
	_free_ char *theirs = NULL;
	char buf[64], cut[5];
	static const char args[] = "two words\0-c\0read x\0";
	int pipes[2];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[0], STDIN_FILENO);
		close(pipes[1]);
		execl("/bin/sh", "two words", "-c", "read x", NULL);
		_exit(127);
	}
	close(pipes[0]);
	while (process_arguments(pid, buf, sizeof(buf)) != sizeof(args) - 1 ||
	       memcmp(buf, args, sizeof(args) - 1))
		usleep(1000);
	assert_int_equal(process_arguments(pid, cut, sizeof(cut)), sizeof(cut));
	assert_memory_equal(cut, "two w", sizeof(cut));
	theirs = process_executable(pid);
	assert_string_equal(theirs, ours);
	close(pipes[1]);
	waitpid(pid, NULL, 0);
}

TEST_CASE(a_process_has_a_directory)
{
	_free_ char *here = get_current_dir_name();
	_free_ char *cwd = process_cwd(tree[LEFT]);

	assert_string_equal(cwd, here);
	assert_null(process_cwd(0x3fffffff));
}

TEST_CASE(the_first_threads_are_listed)
{
	pid_t tids[2] = {};

	assert_int_equal(process_tids(getpid(), tids, 2), process_threads(getpid()));
	assert_int_equal(tids[0], getpid());
	assert_int_equal(process_tids(getpid(), tids, 0), 0);
	assert_int_equal(process_tids(4194304 + 1, tids, 2), 0);
}

TEST_CASE(a_child_is_in_our_control_groups)
{
	assert_true(process_cgroup(getpid()) != 0);
	assert_true(process_cgroup(tree[LEFT]) == process_cgroup(getpid()));
	assert_true(process_cgroup(INT32_MAX) == 0);
}

/* ---- Programs -------------------------------------------------------------------------------- */

TEST_GROUP(NULL, NULL)

TEST_CASE(programs_are_known_by_their_paths)
{
	/* Compilers run queries. */
	assert_true(is_compiler_program("/opt/rust/bin/rustc"));
	assert_true(is_compiler_program("rustdoc"));
	assert_true(is_compiler_program("/x/clippy-driver"));
	assert_true(is_compiler_program("miri"));
	assert_false(is_compiler_program("/opt/rustc/bin/cargo"));
	assert_false(is_compiler_program("/usr/bin/rust-lld"));
	/* Names are whole. */
	assert_true(is_compiler_name("rustc", 5));
	assert_true(is_compiler_name("miri", 4));
	assert_false(is_compiler_name("rustc-wrapper", 13));
	assert_false(is_compiler_name("cargo-miri", 10));
	/* Cargo is of the toolchain. */
	assert_true(is_toolchain_program("cargo"));
	assert_true(is_toolchain_program("/x/cargo-clippy"));
	assert_true(is_toolchain_program("/x/rustc"));
	assert_false(is_toolchain_program("/cargo/bin/ld"));
}

/* /usr/bin holds rustc and ld, but only rustc uses the library. */
TEST_CASE(a_library_belongs_to_the_programs_of_its_toolchain)
{
	char top[] = "/tmp/qprof-test-XXXXXX", command[300], *path = NULL;

	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(system("mkdir bin lib && touch bin/rustc bin/ld lib/librustc_driver-1.so"),
			 0);
	snprintf(command, sizeof(command), "%s/bin/ld", top);
	assert_int_equal(library_beside(command, &path), -ENOENT);
	assert_null(path);
	snprintf(command, sizeof(command), "%s/bin/rustc", top);
	assert_int_equal(library_beside(command, &path), 0);
	assert_non_null(strstr(path, "lib/librustc_driver-1.so"));
	free(path);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

/* ---- Command line ---------------------------------------------------------------------------- */

static void assert_word(struct word word, const char *expected)
{
	if (!expected) {
		assert_null(word.at);
		return;
	}
	assert_int_equal(word.len, strlen(expected));
	assert_memory_equal(word.at, expected, word.len);
}

static void assert_emit(const char *line, const char *expected)
{
	assert_word(command_line__value(command_line_joined(line), "--emit"), expected);
}

TEST_CASE(words_of_a_command_line_are_read)
{
	/* An option has its first value. */
	assert_emit("rustc --emit a --emit=b", "a");
	assert_emit("rustc --emitter=x --emit=b", "b");
	assert_emit("rustc  --emit   a ", "a");
	assert_emit("rustc --emit", NULL);
	assert_emit("rustc", NULL);
	assert_emit(NULL, NULL);
	/* Words are whole ones. */
	assert_true(command_line__has(command_line_joined("rustc --test a.rs"), "--test"));
	assert_false(
		command_line__has(command_line_joined("rustc --tests --cfg=--test"), "--test"));
	assert_false(command_line__has(command_line_joined(NULL), "--test"));
	/* A source file is no option. */
	assert_word(command_line__source(
			    command_line_joined("rustc --crate-name a -ox.rs src/lib.rs b.rs")),
		    "src/lib.rs");
	assert_word(command_line__source(command_line_joined("rustc .rs -")), NULL);
	assert_word(command_line__source(command_line_joined(NULL)), NULL);
	/* A path has a last component. */
	assert_word(word__last_component((struct word){"/a/bc", 5}), "bc");
	assert_word(word__last_component((struct word){"/a/bc", 3}), "");
	assert_word(word__last_component((struct word){"bc", 2}), "bc");
	assert_word(word__last_component((struct word){0}), NULL);
	assert_true(word__is((struct word){"bcd", 2}, "bc"));
	assert_false(word__is((struct word){"bcd", 2}, "bcd"));
	assert_true(word__is((struct word){0}, ""));
	assert_false(word__contains((struct word){0}, "b"));
	/* A path has a directory. */
	assert_word(word__directory((struct word){"/a/b.rs", 7}), "/a");
	assert_word(word__directory((struct word){"/a", 2}), "");
	assert_word(word__directory((struct word){"b.rs", 4}), "");
	assert_int_equal(word__directory((struct word){0}).len, 0);
}

TEST_CASE(a_codegen_option_has_a_value)
{
	static const char text[] = "rustc -C opt-level=3 -Cextra-filename=-1f -C extra-filename=-2";
	const struct command_line line = command_line_joined(text);

	assert_word(command_line__codegen(line, "opt-level"), "3");
	assert_word(command_line__codegen(line, "extra-filename"), "-1f");
	assert_word(command_line__codegen(command_line_joined("-C a="), "a"), "");
	assert_null(command_line__codegen(line, "extra").at);
	assert_null(command_line__codegen(line, "metadata").at);
}

TEST_CASE(raw_arguments_may_be_empty_and_hold_spaces)
{
	static const char args[] = "rustc\0\0--cfg\0a b\0--emit=c d";
	static const char *const words[] = {"rustc", "", "--cfg", "a b", "--emit=c d", NULL, NULL};
	struct command_line rest = command_line_raw(args, sizeof(args) - 1);

	assert_word(command_line__value(rest, "--cfg"), "a b");
	assert_word(command_line__value(rest, "--emit"), "c d");
	for (size_t i = 0; i < N_OF(words); i++)
		assert_word(command_line__next(&rest), words[i]);
}

static bool may_ask(const char *args, size_t size, bool truncated)
{
	return command_line__may_contain(command_line_raw(args, size), "threads=", truncated);
}

TEST_CASE(a_command_line_may_contain_a_text)
{
	assert_false(may_ask("rustc\0a.rs", 11, false));
	assert_true(may_ask("rustc\0-Zthreads=2\0", 18, false));
	assert_true(may_ask("rustc\0-Z\0threads=2", 18, false));
	assert_true(may_ask("rustc\0@args\0-Zthreads=2", 24, false));
}

TEST_CASE(hidden_arguments_may_contain_it)
{
	assert_true(may_ask("rustc\0@args", 11, true));
	assert_true(may_ask("rustc\0a.rs", 11, true));
	assert_true(may_ask("", 0, false));
}

TEST_MAIN(plant, fell)
