// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/processes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void a_tree_is_listed_from_its_root(void **state)
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

static void a_branch_has_only_what_grows_on_it(void **state)
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

static void a_name_may_hold_anything(void **state)
{
	char name[32];

	assert_int_equal(process_parent(tree[ROOT]), getpid());
	assert_int_equal(process_parent(tree[LEFT]), tree[ROOT]);
	assert_int_equal(process_parent(tree[RIGHT]), tree[ROOT]);
	assert_int_equal(process_parent(tree[GRANDCHILD]), tree[LEFT]);
	assert_true(process_is_running(tree[LEFT]));
	process_name(tree[LEFT], name, sizeof(name));
	assert_string_equal(name, NASTY_NAME);
	process_name(tree[GRANDCHILD], name, 3);
	assert_string_equal(name, "a ");
}

static void a_process_that_is_gone(void **state)
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
}

static void arguments_and_executable_of_another(void **state)
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

static void a_process_has_a_directory(void **state)
{
	_free_ char *here = get_current_dir_name();
	_free_ char *cwd = process_cwd(tree[LEFT]);

	assert_string_equal(cwd, here);
	assert_null(process_cwd(0x3fffffff));
}

static void the_first_threads_are_listed(void **state)
{
	pid_t tids[2] = {};

	assert_int_equal(process_tids(getpid(), tids, 2), process_threads(getpid()));
	assert_int_equal(tids[0], getpid());
	assert_int_equal(process_tids(getpid(), tids, 0), 0);
	assert_int_equal(process_tids(4194304 + 1, tids, 2), 0);
}

static void a_child_is_in_our_control_groups(void **state)
{
	assert_true(process_cgroup(getpid()) != 0);
	assert_true(process_cgroup(tree[LEFT]) == process_cgroup(getpid()));
	assert_true(process_cgroup(INT32_MAX) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_is_in_our_control_groups),
		cmocka_unit_test(the_first_threads_are_listed),
		cmocka_unit_test(a_process_has_a_directory),
		cmocka_unit_test(a_tree_is_listed_from_its_root),
		cmocka_unit_test(a_branch_has_only_what_grows_on_it),
		cmocka_unit_test(a_name_may_hold_anything),
		cmocka_unit_test(a_process_that_is_gone),
		cmocka_unit_test(arguments_and_executable_of_another),
	};

	return cmocka_run_group_tests(tests, plant, fell);
}
