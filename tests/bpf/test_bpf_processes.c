// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Records of followed processes: forks, execs with their arguments, exits with their status. */
#include "capture.h"

#define RING (4u << 20)

static void follow(struct capture *c, const char *script)
{
	capture_open(c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(c, script);
}

static const struct wire_exit *exit_of(const struct capture *c, uint32_t pid)
{
	const struct wire_exit *found = NULL;

	for (size_t i = 0; i < c->got.n_exits; i++) {
		if (c->got.exits[i].pid != pid)
			continue;
		assert_null(found); /* one per process */
		found = &c->got.exits[i];
	}
	assert_non_null(found);
	return found;
}

TEST_CASE(children_and_their_ends)
{
	static const uint32_t codes[] = {0, 7 << 8, 255 << 8, SIGKILL, SIGTERM};
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	follow(&c, "f(a)f(b(q7))f(q255)f(a(k9))f(k15)q3");
	assert_int_equal(WEXITSTATUS(c.status), 3);
	assert_int_equal(c.got.n_forks, 5);
	assert_int_equal(c.got.n_exits, 6);
	for (int i = 0; i < 5; i++) {
		const struct wire_fork *f = &c.got.forks[i];
		const struct wire_exit *e = exit_of(&c, f->child_pid);

		assert_int_equal(f->parent_pid, c.pid);
		assert_int_equal(e->exit_code, codes[i]);
		assert_true(f->time_ns < e->time_ns);
		assert_true(e->peak_kib > 0);
	}
	assert_int_equal(exit_of(&c, c.pid)->exit_code, 3 << 8);
	assert_as_expected(&c);
	assert_whole(&c);
	/* An exited process is not followed any more. */
	assert_false(kernel__follows(c.kernel, c.pid));
	for (int i = 0; i < 5; i++)
		assert_false(kernel__follows(c.kernel, c.got.forks[i].child_pid));
}

TEST_CASE(grandchildren)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	follow(&c, "f(f(f(a(b))c)d)e");
	assert_int_equal(c.got.n_forks, 3);
	assert_int_equal(c.got.forks[1].parent_pid, c.got.forks[0].child_pid);
	assert_int_equal(c.got.forks[2].parent_pid, c.got.forks[1].child_pid);
	assert_int_equal(c.got.n_exits, 4);
	assert_as_expected(&c);
	assert_whole(&c);
}

/* A thread's child has none of the thread's frames. A thread's end is not its process's. */
TEST_CASE(threads_and_forks_from_threads)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	follow(&c, "p4(a(f(b(c))d))a(t(b(f(q9))))");
	assert_int_equal(c.got.n_forks, 5);
	assert_int_equal(c.got.n_exits, 6);
	assert_as_expected(&c);
	assert_whole(&c);
}

static size_t put_text(char *to, const char *text)
{
	return strlen(strcpy(to, text)) + 1;
}

TEST_CASE(arguments_are_whole)
{
	char args[256];
	_capture_ struct capture c = CAPTURE_NONE;
	size_t len;

	need_capture();
	follow(&c, "x(a(b))X(c)");
	assert_int_equal(c.status, 0);
	assert_int_equal(c.got.n_execs, 3);
	len = put_text(args, "target");
	len += put_text(args + len, c.expected);
	len += put_text(args + len, "x(a(b))X(c)");
	assert_int_equal(c.got.execs[0].args_len, len);
	assert_int_equal(c.got.execs[0].truncated, 0);
	assert_memory_equal(c.got.execs[0].args, args, len);
	assert_string_equal(c.got.execs[0].comm, "target");
	assert_int_equal(c.got.execs[0].pid, c.pid);
	assert_int_equal(c.got.execs[1].pid, c.got.forks[0].child_pid);
	len -= strlen("x(a(b))X(c)") + 1;
	len += put_text(args + len, "a(b)");
	assert_int_equal(c.got.execs[1].args_len, len);
	assert_memory_equal(c.got.execs[1].args, args, len);
	assert_int_equal(c.got.execs[2].pid, c.pid);
	assert_int_equal(c.got.n_exits, 2);
	assert_as_expected(&c);
	assert_whole(&c);
}

TEST_CASE(a_long_command_line_is_cut_and_says_so)
{
	_capture_ struct capture c = CAPTURE_NONE;
	const struct wire_exec *e = &c.got.execs[1];

	need_capture();
	follow(&c, "f(~X(a(b)))");
	assert_int_equal(c.got.n_execs, 2);
	assert_int_equal(e->truncated, 1);
	assert_int_equal(e->args_len, WIRE_ARGS_MAX);
	assert_string_equal(e->args, "target");
	assert_string_equal(e->args + 7 + strlen(c.expected) + 1, "a(b)");
	assert_int_equal(e->args[WIRE_ARGS_MAX - 1], '-');
	assert_int_equal(c.got.n_spans, 2);
}

/* An exec ends every query in all threads of the process, and the new image starts afresh. */
TEST_CASE(an_exec_in_mid_query)
{
	struct capture c;

	need_capture();
	follow(&c, "a(b(X(c(d))))");
	assert_as_expected(&c);
	assert_int_equal(c.counters[WIRE_COUNT_OPEN], 2);
	assert_true(c.got.spans[1].end_ns <= c.got.execs[1].time_ns);
	capture_close(&c);
	follow(&c, "t(a(X(c(d))))");
	assert_as_expected(&c);
	assert_int_equal(c.counters[WIRE_COUNT_OPEN], 1);
	capture_close(&c);
}

/* A process whose record is lost is counted, and followed all the same. */
TEST_CASE(a_lost_record_of_a_process)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, 4096, 0);
	capture_script(&c, "x(a)");
	/* The two exec records alone are larger than the ring. */
	assert_int_equal(c.got.n_execs, 0);
	assert_int_equal(c.counters[WIRE_LOST_PROCESS_RECORD], 2);
	assert_int_equal(c.got.n_forks, 1);
	assert_int_equal(c.got.n_exits, 2);
	assert_int_equal(c.got.n_spans, 1);
	assert_int_equal(c.got.spans[0].pid, c.got.forks[0].child_pid);
}

TEST_MAIN(NULL, NULL)
