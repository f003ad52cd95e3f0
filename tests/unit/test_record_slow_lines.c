// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/slow_lines.h"
#include "record/slow_sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "qprof/wire.h"

#define MS 1000000ull

/* The lines go into a pipe; the names into a trace. */
struct lines {
	struct slow_lines l;
	int fds[2];
	struct summary *processes;
	struct trace_output trace;
	struct item_output items;
	const char *readable; /* the name that the compiler's memory shows; NULL: it has exited */
};

static int read_name(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out)
{
	const struct lines *x = ctx;

	*out = x->readable ? strdup(x->readable) : NULL;
	return x->readable ? 0 : -ENOENT;
}

static struct lines x;

static int begin(void **state)
{
	struct trace_process p = {.pid = 40, .exit_status = TRACE_EXIT_UNKNOWN, .command = "rustc"};

	if (temporary_make(state))
		return -1;
	x = (struct lines){.trace = {.writer = sampled_trace_open(temporary)}};
	x.items.trace = &x.trace;
	assert_int_equal(summary__new(&x.processes), 0);
	assert_int_equal(summary__process(x.processes, &p), 0);
	p.index = 1;
	p.pid = 41;
	assert_int_equal(summary__process(x.processes, &p), 0);
	assert_int_equal(pipe2(x.fds, O_CLOEXEC), 0);
	x.l = (struct slow_lines){.least_ns = 100 * MS, .name = read_name, .name_ctx = &x};
	x.l.processes = x.processes;
	x.l.key = wire_key(WIRE_KEY_LOCAL_CRATE, 7);
	return writer_thread__new(x.fds[1], &x.l.to);
}

/* The output since the last call. */
static char *printed(void)
{
	struct pollfd pfd = {.fd = writer_thread__idle_fd(x.l.to), .events = POLLIN};
	static char text[1 << 14];
	ssize_t n;

	assert_int_equal(poll(&pfd, 1, -1), 1);
	assert_int_equal(write(x.fds[1], "\n", 1), 1);
	n = read(x.fds[0], text, sizeof(text));
	assert_true(n > 0);
	text[n - 1] = '\0';
	return text;
}

static int end(void **state)
{
	slow_lines__clear(&x.l);
	writer_thread__free(x.l.to);
	close(x.fds[0]);
	close(x.fds[1]);
	trace_output__destroy(&x.trace);
	summary__free(x.processes);
	return temporary_remove(state);
}

static void see(uint32_t process, uint32_t invocation)
{
	const struct trace_span s = {.process = process,
				     .tid = 50 + invocation,
				     .end_ns = 200 * MS,
				     .invocation = invocation,
				     .kind = TRACE_KIND_QUERY};
	const struct trace_times times = {.self_ns = 200 * MS};

	slow_lines__see(&x.l, &s, &times, "typeck");
}

TEST_CASE_WITH(a_name_is_read_while_the_compiler_runs, begin, end)
{
	x.readable = "a::one";
	see(0, 7);
	assert_contains(printed(), "qprof-bpf: slow: typeck(a::one) 200 ms (self 200 ms) in ");
	assert_int_equal(x.l.n_held, 0);
}

TEST_CASE_WITH(a_line_waits_for_the_name_of_a_compiler_that_has_exited, begin, end)
{
	struct trace_mapping m = {.process = 1, .first = 6, .n = 2, .series = true};
	uint32_t other;

	item_output__text(&x.items, "a::other", &other);
	item_output__text(&x.items, "a::one", &m.string);
	m.string = other;
	see(0, 7);
	see(1, 7);
	assert_string_equal(printed(), "");
	/* The same ids of another process, and other ids of this one, have other names. */
	slow_lines__named(&x.l, &(struct trace_mapping){.process = 1, .first = 8, .n = 1},
			  &x.items);
	assert_string_equal(printed(), "");
	slow_lines__named(&x.l, &m, &x.items);
	assert_contains(printed(), ", process 41\n");
	assert_int_equal(x.l.n_held, 1);
	m.process = 0;
	slow_lines__named(&x.l, &m, &x.items);
	assert_contains(printed(), "qprof-bpf: slow: typeck(a::one) 200 ms (self 200 ms) in ");
	assert_int_equal(x.l.n_held, 0);
}

TEST_CASE_WITH(a_line_whose_name_does_not_come_has_none, begin, end)
{
	see(0, 7);
	see(1, 7);
	slow_lines__over(&x.l, 1);
	assert_contains(printed(), "qprof-bpf: slow: typeck 200 ms (self 200 ms) in ");
	assert_int_equal(x.l.n_held, 1);
	slow_lines__over(&x.l, TRACE_NO_PROCESS);
	assert_contains(printed(), ", process 40\n");
}

/* An interval about nothing of this crate, or about no item, has no name that could come. */
TEST_CASE_WITH(a_line_that_has_no_name_does_not_wait, begin, end)
{
	x.l.key = 0;
	see(0, 1);
	x.l.key = wire_key(WIRE_KEY_LOCAL_CRATE + 3, 7);
	see(0, 2);
	assert_int_equal(x.l.n_held, 0);
}

TEST_CASE_WITH(few_lines_wait, begin, end)
{
	for (uint32_t i = 0; i < SLOW_LINES_HELD; i++)
		see(0, i);
	assert_string_equal(printed(), "");
	see(0, SLOW_LINES_HELD);
	assert_contains(printed(), "qprof-bpf: slow: typeck 200 ms ");
	assert_int_equal(x.l.n_held, SLOW_LINES_HELD);
}

static const char *name_of(const void *ctx, uint32_t id)
{
	return id == 3 ? "mir_borrowck" : "analysis";
}

static void sample_in(struct slow_sampled *s, uint64_t time_ns, uint32_t job)
{
	const struct trace_sample sample = {
		.time_ns = time_ns, .tid = 9, .job = job, .cause = TRACE_SAMPLE_CPU};

	assert_int_equal(slow_sampled__sample(s, &sample), 0);
}

/* Where no query has a probe. An activity's own time holds that of queries. */
TEST_CASE_WITH(executions_that_samples_met_are_slow_too, begin, end)
{
	const struct trace_texts names = {.text = name_of};
	const struct trace_job outer = {.query = 2}, inner = {.query = 3, .parent = 70001};
	const struct trace_process over = {.index = 0, .end_ns = 500 * MS};
	struct recent_jobs jobs = {};
	struct slow_sampled s;
	x.readable = "a::one";
	slow_sampled__open(&s, &x.l, &jobs, &names);
	assert_int_equal(recent_jobs__add(&jobs, 70001, &outer, 0), 0);
	assert_int_equal(recent_jobs__add(&jobs, 70002, &inner, wire_key(WIRE_KEY_LOCAL_CRATE, 7)),
			 0);
	sample_in(&s, 0, 70001);
	sample_in(&s, 10 * MS, 70002);
	sample_in(&s, 200 * MS, 70002);
	/* Too short. */
	sample_in(&s, 210 * MS, 70001);
	assert_contains(printed(), "qprof-bpf: slow: mir_borrowck(a::one) 190 ms (by samples) in ");
	see(0, 7);
	assert_contains(printed(), "typeck(a::one) 200 ms (with its queries) in ");
	/* The one around is explained by it, when its compiler has exited. */
	assert_int_equal(slow_sampled__process(&s, &over), 0);
	assert_int_equal(slow_sampled__tick(&s), 0);
	assert_string_equal(printed(), "");
	assert_int_equal(s.intervals.n, 0);
	sample_in(&s, 600 * MS, 70001);
	sample_in(&s, 800 * MS, 70001);
	assert_int_equal(slow_sampled__over(&s, TRACE_NO_PROCESS), 0);
	assert_contains(printed(), "qprof-bpf: slow: analysis 200 ms (by samples) in ");
	slow_sampled__clear(&s);
	recent_jobs__clear(&jobs);
}

/* An execution may be in more jobs than are kept. */
TEST_CASE_WITH(a_line_whose_key_is_forgotten_waits_for_its_name, begin, end)
{
	const struct trace_texts names = {.text = name_of};
	const struct trace_job job = {.query = 3};
	const struct trace_process over = {.index = 0, .end_ns = 500 * MS};
	struct recent_jobs jobs = {};
	struct slow_sampled s;
	x.readable = "a::one";
	slow_sampled__open(&s, &x.l, &jobs, &names);
	assert_int_equal(recent_jobs__add(&jobs, 1, &job, wire_key(WIRE_KEY_LOCAL_CRATE, 7)), 0);
	sample_in(&s, 0, 1);
	sample_in(&s, 200 * MS, 1);
	assert_int_equal(recent_jobs__add(&jobs, 1 + RECENT_JOBS, &job, 0), 0);
	assert_int_equal(slow_sampled__over(&s, 0), 0);
	assert_string_equal(printed(), "");
	assert_int_equal(x.l.n_held, 1);
	/* None comes of a compiler that has exited. */
	assert_int_equal(slow_sampled__process(&s, &over), 0);
	assert_int_equal(slow_sampled__tick(&s), 0);
	assert_contains(printed(), "qprof-bpf: slow: mir_borrowck 200 ms (by samples) in ");
	slow_sampled__clear(&s);
	recent_jobs__clear(&jobs);
}

TEST_MAIN(NULL, NULL)
