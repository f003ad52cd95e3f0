// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/writer_thread.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

#define MUCH (1u << 20) /* more than a pipe holds */

struct piped {
	int from;
	int to;
	struct writer_thread *writer;
};

static void piped_open(struct piped *p)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	p->from = fds[0];
	p->to = fds[1];
	assert_int_equal(writer_thread__new(p->to, &p->writer), 0);
}

static void piped_close(struct piped *p)
{
	writer_thread__free(p->writer);
	close(p->to);
	if (p->from >= 0)
		close(p->from);
}

static bool is_idle(const struct piped *p, int ms)
{
	struct pollfd pfd = {.fd = writer_thread__idle_fd(p->writer), .events = POLLIN};

	return poll(&pfd, 1, ms) == 1;
}

static void put_much(struct piped *p, char fill)
{
	_free_ char *bytes = malloc(MUCH);

	memset(bytes, fill, MUCH);
	assert_int_equal(writer_thread__put(p->writer, bytes, MUCH), 0);
}

static void take(struct piped *p, char fill, size_t len)
{
	char buf[4096];

	while (len) {
		ssize_t n = read(p->from, buf, len < sizeof(buf) ? len : sizeof(buf));

		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(buf[i], fill);
		len -= (size_t)n;
	}
}

/* Without a thread this test would not end. */
TEST_CASE(a_reader_that_does_not_read_delays_nothing)
{
	struct piped p;

	piped_open(&p);
	assert_true(is_idle(&p, 0));
	put_much(&p, 'a');
	put_much(&p, 'b');
	assert_false(is_idle(&p, 0));
	assert_true(writer_thread__waiting(p.writer) >= MUCH);
	take(&p, 'a', MUCH);
	take(&p, 'b', MUCH);
	assert_true(is_idle(&p, 10000));
	assert_int_equal(writer_thread__waiting(p.writer), 0);
	piped_close(&p);
}

TEST_CASE(freeing_a_writer_discards_its_waiting_bytes)
{
	struct piped p;

	piped_open(&p);
	put_much(&p, 'a');
	take(&p, 'a', 1);
	piped_close(&p);
	writer_thread__free(NULL);
}

TEST_CASE(the_first_error_is_kept)
{
	struct piped p;

	piped_open(&p);
	close(p.from);
	p.from = -1;
	assert_int_equal(writer_thread__put(p.writer, "a", 1), 0);
	assert_true(is_idle(&p, 10000));
	assert_int_equal(writer_thread__put(p.writer, NULL, 0), -EPIPE);
	assert_int_equal(writer_thread__put(p.writer, "b", 1), -EPIPE);
	assert_int_equal(writer_thread__waiting(p.writer), 0);
	piped_close(&p);
}

/* Another process may have set O_NONBLOCK on a shared pipe. */
TEST_CASE(a_descriptor_that_does_not_block_gets_everything)
{
	struct piped p;

	piped_open(&p);
	fcntl(p.to, F_SETFL, O_NONBLOCK);
	put_much(&p, 'a');
	take(&p, 'a', MUCH);
	assert_true(is_idle(&p, 10000));
	assert_int_equal(writer_thread__put(p.writer, NULL, 0), 0);
	piped_close(&p);
}

int main(void)
{
	/* As in a recording. */
	signal(SIGPIPE, SIG_IGN);
	return test_cases__run(NULL, NULL);
}
