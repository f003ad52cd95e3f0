// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/tasks.h"

#include <unistd.h>

#include "test.h"

#define NUMBERS " 1 2 3 4 5 6 7 8 9 10 70 30 0 0 20 0 1 0 4242 99 98\n"

static void a_line_is_taken_apart(void **state)
{
	struct task_stat s;

	assert_int_equal(task_stat__parse(&s, "4711 (rustc) S" NUMBERS), 0);
	assert_string_equal(s.name, "rustc");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.cpu_ticks, 100);
	assert_int_equal(s.start_ticks, 4242);
	assert_int_equal(task_stat__parse(&s, "4711 (a) R (b) c) D" NUMBERS), 0);
	assert_string_equal(s.name, "a) R (b) c");
	assert_int_equal(s.state, 'D');
}

static void a_broken_line_is_none(void **state)
{
	struct task_stat s;

	assert_int_equal(task_stat__parse(&s, ""), -EBADMSG);
	assert_int_equal(task_stat__parse(&s, "4711 )rustc( S" NUMBERS), -EBADMSG);
	assert_int_equal(task_stat__parse(&s, "4711 (rustc"), -EBADMSG);
	assert_int_equal(task_stat__parse(&s, "4711 (rustc) S 1 2 3 4 5 6 7 8 9 10 70 30\n"),
			 -EBADMSG);
}

static void our_own_thread_is_found(void **state)
{
	struct tasks t;

	assert_int_equal(tasks__read(&t, getpid()), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.items[0].tid, getpid());
	assert_int_equal(t.items[0].state, 'R');
	assert_null(t.items[0].waits);
	tasks__clear(&t);
}

static void one_that_is_gone_is_not(void **state)
{
	struct tasks t;

	assert_int_equal(tasks__read(&t, 0x7fffffff), -ESRCH);
	tasks__clear(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_taken_apart),
		cmocka_unit_test(a_broken_line_is_none),
		cmocka_unit_test(our_own_thread_is_found),
		cmocka_unit_test(one_that_is_gone_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
