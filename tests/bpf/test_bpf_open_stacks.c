// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Snapshots of a thread's open frames equal the frames of the test program, at any depth, and while
 * the program runs.
 */
#include "capture.h"

#include <errno.h>
#include <inttypes.h>

#include "proc/processes.h"

#define RING	  (4u << 20)
#define MOST	  4096
#define SNAPSHOTS 3000

struct open {
	struct wire_open_frame frames[MOST];
	uint32_t n;
	struct wire_open_stack stack;
	bool ended;
	size_t n_others;
};

static struct open now;

static int keep_open(void *ctx, const struct record *r)
{
	struct open *o = ctx;

	switch (r->kind) {
	case WIRE_OPEN_FRAME:
		assert_in_range(o->n, 0, MOST - 1);
		o->frames[o->n++] = *r->open_frame;
		return 0;
	case WIRE_OPEN_STACK:
		o->stack = *r->open_stack;
		o->ended = true;
		return 0;
	case WIRE_SPAN:
	case WIRE_OFF_CPU:
	case WIRE_HIT:
		o->n_others++;
		return 0;
	default:
		return 0;
	}
}

static void look(struct capture *c, pid_t tid)
{
	size_t others = now.n_others;

	now = (struct open){.n_others = others};
	assert_int_equal(kernel__show_open(c->kernel, &(uint32_t){(uint32_t)tid}, 1), 0);
	/* An unfinished record of another CPU may block the ring. */
	for (int i = 0; i < 10000 && !now.ended; i++) {
		assert_int_equal(kernel__drain(c->kernel, keep_open, &now), 0);
		if (!now.ended)
			usleep(100);
	}
	assert_true(now.ended);
	assert_int_equal(now.stack.tid, tid);
}

static void begin(struct capture *c, const char *script)
{
	const struct kernel_options opt = {.attach = KERNEL_ATTACH_MULTI,
					   .ring_bytes = RING,
					   .off_cpu = true,
					   .only_open = true};

	capture_open_with(c, &opt, 0);
	now = (struct open){0};
	capture_begin(c, script);
}

static void wait_for_end(struct capture *c)
{
	assert_int_equal(waitpid(c->pid, &c->status, 0), c->pid);
	c->ended = true;
	assert_int_equal(c->status, 0);
}

static void end(struct capture *c)
{
	kernel__enable(c->kernel, false);
	assert_int_equal(kernel__flush_open(c->kernel), 0);
	assert_int_equal(kernel__drain(c->kernel, keep_open, &now), 0);
	/* This capture does not report ended intervals. */
	assert_int_equal(now.n_others, 0);
	assert_int_equal(kernel__counters(c->kernel, c->counters), 0);
	assert_whole(c);
	capture_close(c);
}

/* All spans that the target reports after the dot were open there, the innermost first. */
static void compare_with_target(const struct capture *c, const struct open *o)
{
	struct expectation e;

	read_expectation(c, &e);
	assert_int_equal(o->n, e.n);
	for (uint32_t i = 0; i < o->n; i++) {
		const struct wire_open_frame *f = &o->frames[i];
		const struct expected_span *s = &e.spans[e.n - 1 - i];

		assert_int_equal(f->kind, s->kind);
		assert_int_equal(f->query, s->query);
		assert_int_equal(f->lib, c->lib);
		assert_true(f->sp != 0);
		assert_true(f->start_ns <= o->stack.time_ns);
		assert_true(!i || f->start_ns >= o->frames[i - 1].start_ns);
	}
	free(e.spans);
}

static void check(const char *script)
{
	static struct open at_dot;
	struct capture c;

	begin(&c, script);
	capture_wait_for_dot(&c);
	look(&c, c.pid);
	at_dot = now;
	assert_int_equal(at_dot.stack.known, 1);
	assert_int_equal(at_dot.stack.torn, 0);
	assert_int_equal(at_dot.stack.n, at_dot.n);
	assert_int_equal(at_dot.stack.n_lost, 0);
	/* The target may not have reached its read() from the pipe yet. */
	for (int i = 0; i < 10000 && now.stack.reason != WIRE_OFF_WAITING; i++) {
		usleep(100);
		look(&c, c.pid);
	}
	assert_int_equal(now.stack.reason, WIRE_OFF_WAITING);
	/* A snapshot leaves the stack unchanged. */
	assert_int_equal(now.n, at_dot.n);
	capture_go(&c);
	wait_for_end(&c);
	compare_with_target(&c, &at_dot);
	end(&c);
}

TEST_CASE(frames_are_those_the_target_has_open)
{
	need_capture();
	check("a(b(e(.)))");
	check("A(b(G(.)))");
	check("c(d(D(C(.))))");
	check("a(n(b(l(v(h(.))))))");
	check("r700(a(.))");
	check("a(s(b(S(c(n(.))))))");
}

TEST_CASE(a_thread_that_is_in_nothing)
{
	struct capture c;

	need_capture();
	begin(&c, "~*20(a(b)).");
	capture_wait_for_dot(&c);
	look(&c, c.pid);
	assert_int_equal(now.n, 0);
	assert_int_equal(now.stack.known, 1);
	look(&c, getpid());
	assert_int_equal(now.n, 0);
	assert_int_equal(now.stack.known, 0);
	capture_go(&c);
	wait_for_end(&c);
	end(&c);
}

struct shown {
	uint32_t tids[2];
	uint32_t n, n_frames;
};

static int keep_shown(void *ctx, const struct record *r)
{
	struct shown *shown = ctx;

	if (r->kind == WIRE_OPEN_FRAME)
		shown->n_frames++;
	if (r->kind == WIRE_OPEN_STACK) {
		assert_in_range(shown->n, 0, N_OF(shown->tids) - 1);
		shown->tids[shown->n++] = r->open_stack->tid;
	}
	return 0;
}

/* In any order, as many as can be asked for, of which all but two do not exist. */
TEST_CASE(several_threads_are_seen_at_once)
{
	uint32_t tids[WIRE_OPEN_TIDS], pid = (uint32_t)getpid(), target;
	struct shown shown = {0};
	struct capture c;

	need_capture();
	begin(&c, "a(b(e(.)))");
	capture_wait_for_dot(&c);
	for (uint32_t i = 0; i < WIRE_OPEN_TIDS; i++)
		tids[i] = INT32_MAX - i;
	target = tids[5] = (uint32_t)c.pid;
	tids[WIRE_OPEN_TIDS - 1] = pid;
	assert_int_equal(kernel__show_open(c.kernel, tids, WIRE_OPEN_TIDS), 0);
	for (int i = 0; i < 10000 && shown.n < 2; i++) {
		assert_int_equal(kernel__drain(c.kernel, keep_shown, &shown), 0);
		usleep(100);
	}
	assert_int_equal(shown.n, 2);
	assert_true((shown.tids[0] == pid && shown.tids[1] == target) ||
		    (shown.tids[0] == target && shown.tids[1] == pid));
	assert_int_equal(shown.n_frames, 3);
	assert_int_equal(kernel__show_open(c.kernel, tids, WIRE_OPEN_TIDS + 1), -EINVAL);
	capture_go(&c);
	wait_for_end(&c);
	end(&c);
}

/* A snapshot that is not marked torn shows one moment: a path from the outermost frame. */
TEST_CASE(one_that_goes_on_is_seen_at_one_moment_or_called_torn)
{
	uint32_t torn = 0, deepest = 0, on_cpu = 0;
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	begin(&c, "~.*200000(a(b(e(h(z)))))");
	capture_wait_for_dot(&c);
	capture_go(&c);
	for (int i = 0; i < SNAPSHOTS && !kill(c.pid, 0); i++) {
		look(&c, c.pid);
		torn += now.stack.torn;
		on_cpu += !now.stack.off_since_ns;
		if (now.stack.torn || !now.stack.known)
			continue;
		assert_in_range(now.n, 0, 5);
		assert_int_equal(now.n, now.stack.n);
		deepest = now.n > deepest ? now.n : deepest;
		for (uint32_t k = 1; k < now.n; k++) {
			assert_true(now.frames[k].sp < now.frames[k - 1].sp);
			assert_true(now.frames[k].start_ns >= now.frames[k - 1].start_ns);
			assert_true(now.frames[k].query != now.frames[k - 1].query);
		}
	}
	print_message("%u were torn of %u on a CPU, the deepest had %u\n", torn, on_cpu, deepest);
	assert_true(deepest > 1);
	kill(c.pid, SIGKILL);
}

static pid_t other_thread(pid_t pid)
{
	pid_t tids[2] = {0};

	assert_int_equal(process_tids(pid, tids, 2), 2);
	return tids[0] == pid ? tids[1] : tids[0];
}

static pid_t child_of(pid_t pid)
{
	struct process_list list;
	pid_t child;

	assert_int_equal(process_list__descendants(pid, &list), 0);
	assert_int_equal(list.n, 2);
	child = list.pids[1];
	process_list__clear(&list);
	return child;
}

/* The two numbers are of one program, and of all its threads. */
TEST_CASE(an_exec_is_seen)
{
	struct wire_open_stack first;
	struct capture c;

	need_capture();
	begin(&c, "t(.)X(t(.)f(.))");
	capture_wait_for_dot(&c);
	look(&c, c.pid);
	first = now.stack;
	assert_true(first.execs && first.process_ns && first.process_ns < first.time_ns);
	look(&c, other_thread(c.pid));
	assert_true(now.stack.execs == first.execs && now.stack.process_ns == first.process_ns);
	capture_go(&c);
	capture_wait_for_dot(&c);
	look(&c, c.pid);
	assert_true(now.stack.execs == first.execs + 1 && now.stack.process_ns == first.process_ns);
	look(&c, other_thread(c.pid));
	assert_true(now.stack.execs == first.execs + 1 && now.stack.process_ns == first.process_ns);
	capture_go(&c);
	capture_wait_for_dot(&c);
	look(&c, child_of(c.pid));
	assert_true(now.stack.execs == first.execs + 1 && now.stack.process_ns > first.process_ns);
	capture_go(&c);
	wait_for_end(&c);
	end(&c);
}

struct ended {
	struct wire_span spans[8];
	uint32_t n;
};

static int keep_ended(void *ctx, const struct record *r)
{
	struct ended *ended = ctx;

	if (r->kind != WIRE_SPAN)
		return 0;
	assert_in_range(ended->n, 0, N_OF(ended->spans) - 1);
	ended->spans[ended->n++] = *r->span;
	return 0;
}

/* Frames of before lie below those that the thread has entered since, and nest with them. */
TEST_CASE(what_it_was_in_before_is_recorded_too)
{
	const struct kernel_options opt = {.attach = KERNEL_ATTACH_MULTI,
					   .ring_bytes = RING,
					   .off_cpu = true,
					   .show_open = true};
	struct wire_begun before[] = {
		{.key = 7, .query = 1, .group = 900, .kind = WIRE_KIND_QUERY},
		{.query = 2, .group = 901, .number = 1, .kind = WIRE_KIND_ACTIVITY},
	};
	struct ended ended = {0};
	struct open since;
	struct capture c;

	need_capture();
	capture_open_with(&c, &opt, 0);
	now = (struct open){0};
	capture_begin(&c, "a(b(.))");
	capture_wait_for_dot(&c);
	look(&c, c.pid);
	since = now;
	assert_int_equal(since.n, 2);
	for (uint32_t i = 0; i < N_OF(before); i++) {
		before[i].sp = since.frames[0].sp + 128 - 64 * i;
		before[i].lib = c.lib;
	}
	assert_int_equal(kernel__put_begun(c.kernel, INT32_MAX, 5, before, 2), -ENOSPC);
	assert_int_equal(kernel__put_begun(c.kernel, c.pid, 5, before, WIRE_BEGUN_MAX + 1),
			 -EINVAL);
	assert_int_equal(kernel__put_begun(c.kernel, c.pid, 5, before, 2), 0);
	look(&c, c.pid);
	assert_int_equal(now.n, 4);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(now.frames[i].start_ns, 5);
		assert_int_equal(now.frames[i].query, before[i].query);
		assert_memory_equal(&now.frames[2 + i], &since.frames[i], sizeof(*now.frames));
	}
	capture_go(&c);
	wait_for_end(&c);
	assert_int_equal(kernel__drain(c.kernel, keep_ended, &ended), 0);
	assert_int_equal(ended.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(ended.spans[i].depth, 3 - i);
		assert_int_equal(ended.spans[i].flags, i < 2 ? 0 : WIRE_SPAN_OPEN);
		assert_true(i < 2 || ended.spans[i].start_ns == 5);
	}
	assert_int_equal(ended.spans[3].key, 7);
	capture_close(&c);
}

TEST_MAIN(NULL, NULL)
