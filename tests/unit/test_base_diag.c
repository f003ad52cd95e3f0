// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diag.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/output.h"

static void say_all(void)
{
	diag_error("an %s", "error");
	diag_warn("a warning");
	diag_info("information");
	diag_verbose("detail");
}

TEST_CASE(levels_choose_what_is_printed)
{
	static const char *const expected[] = {
		"qprof-bpf: error: an error\n",
		"qprof-bpf: error: an error\nqprof-bpf: warning: a warning\n"
		"qprof-bpf: information\n",
		"qprof-bpf: error: an error\nqprof-bpf: warning: a warning\n"
		"qprof-bpf: information\nqprof-bpf: detail\n",
	};

	for (int level = DIAG_QUIET; level <= DIAG_VERBOSE; level++) {
		struct output o;

		output_begin(&o);
		diag_set_level((enum diag_level)level);
		say_all();
		output_end(&o);
		diag_set_level(DIAG_NORMAL);
		assert_string_equal(o.text[0], "");
		assert_string_equal(o.text[1], expected[level - DIAG_QUIET]);
		output_free(&o);
	}
}

/* Lines on root's terminal contain paths that other users chose. */
TEST_CASE(a_line_moves_no_cursor)
{
	struct output o;

	output_begin(&o);
	diag_error("a\033[2J\a\r\nb\177 \302\233c\303\244 \302 \342\200\256");
	output_end(&o);
	assert_string_equal(o.text[1], "qprof-bpf: error: a?[2J???b? ??c\303\244 ? ???\n");
	output_free(&o);
}

TEST_CASE(held_errors_are_not_printed)
{
	char text[8] = "";
	struct output o;

	output_begin(&o);
	diag_hold_errors(text, sizeof(text));
	diag_error("first");
	diag_error("second, and longer");
	diag_hold_errors(NULL, 0);
	diag_error("third");
	output_end(&o);
	assert_string_equal(text, "second,");
	assert_string_equal(o.text[1], "qprof-bpf: error: third\n");
	output_free(&o);
}

struct wakes {
	int fd;
	unsigned int n;
};

static bool go_on_twice(void *ctx)
{
	struct wakes *w = ctx;
	eventfd_t value;

	assert_int_equal(eventfd_read(w->fd, &value), 0);
	return ++w->n < 3;
}

/* Without a limit this test would not end. */
TEST_CASE(at_the_end_a_line_waits_until_it_is_to_be_dropped)
{
	static char filler[1 << 20];
	struct wakes w = {.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
	int fds[2], before = dup(STDERR_FILENO);
	char taken[4096] = "";

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	diag_wait_with(w.fd, go_on_twice, &w);
	diag_warn("taken");
	assert_true(read(fds[0], taken, sizeof(taken) - 1) > 0);
	assert_non_null(strstr(taken, "taken\n"));
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	while (write(fds[1], filler, sizeof(filler)) > 0)
		;
	fcntl(fds[1], F_SETFL, 0);
	eventfd_write(w.fd, 3);
	diag_warn("dropped");
	assert_int_equal(w.n, 3);
	diag_wait_with(-1, NULL, NULL);
	dup2(before, STDERR_FILENO);
	close(before);
	close(w.fd);
	close(fds[0]);
	close(fds[1]);
}

/* Without a limit this test would not end. */
TEST_CASE(blocked_lines_are_dropped_and_counted)
{
	static char taken[1 << 20];
	int fds[2], before = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	dup2(fds[1], STDERR_FILENO);
	diag_drop_blocked(true);
	for (int i = 0; i < 10000; i++)
		diag_warn("line %d", i);
	n = read(fds[0], taken, sizeof(taken) - 1);
	diag_warn("the last one");
	diag_drop_blocked(false);
	dup2(before, STDERR_FILENO);
	assert_true(n > 0);
	assert_non_null(strstr(taken, "line 0\n"));
	assert_null(strstr(taken, "line 9999\n"));
	n = read(fds[0], taken, sizeof(taken) - 1);
	assert_true(n > 0);
	taken[n] = '\0';
	assert_non_null(strstr(taken, " lines were not printed"));
	assert_non_null(strstr(taken, "the last one\n"));
	close(before);
	close(fds[0]);
	close(fds[1]);
}

TEST_CASE(a_limit_is_the_next_step)
{
	assert_string_equal(diag_step(-EMFILE, "; try -o"),
			    "; raise the limit of open files (ulimit -n)");
	assert_string_equal(diag_step(-EFBIG, "; try -o"),
			    "; raise the limit of the size of a file (ulimit -f)");
	assert_string_equal(diag_step(-EACCES, "; try -o"), "; try -o");
	assert_string_equal(diag_step(0, ""), "");
}

TEST_MAIN(NULL, NULL)
