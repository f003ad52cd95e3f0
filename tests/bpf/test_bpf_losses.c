// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Records that cannot be sent are counted exactly; unrequested records are not sent. */
#include "capture.h"

#define PAGE 4096u
#define RING (16u << 20)
/* Room for the records of busy threads while this process has no CPU. */
#define BIG_RING (64u << 20)

static void need_no_room(struct capture *c, const char *script)
{
	struct expectation e;

	capture_open(c, KERNEL_ATTACH_MULTI, PAGE, 0);
	capture_begin(c, script);
	capture_finish_undrained(c);
	capture_stop(c);
	assert_int_equal(c->status, 0);
	read_expectation(c, &e);
	assert_true(c->counters[WIRE_LOST_RING_FULL] > 0);
	assert_int_equal(c->got.n_spans, c->counters[WIRE_COUNT_SPANS]);
	assert_int_equal(c->got.n_spans + c->counters[WIRE_LOST_RING_FULL], e.total);
	assert_all_nested(&c->got);
	free(e.spans);
}

/* The ring is full before the labels, and no span gets another's label. */
TEST_CASE(labels_that_cannot_be_sent_are_counted)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	need_no_room(&c, "~*200(a)*3(lL)");
	assert_int_equal(c.counters[WIRE_COUNT_NO_LABEL], 6);
	assert_int_equal(c.got.n_labels, 0);
}

/* As capture_script(), of a process that becomes another user, and has an account all the same. */
static void capture_user(struct capture *c, const char *script)
{
	capture_start(c, script);
	assert_int_equal(chmod(c->expected, 0666), 0);
	assert_int_equal(kernel__follow(c->kernel, c->pid), 0);
	kernel__enable(c->kernel, true);
	capture_go(c);
	capture_finish_target(c);
	capture_stop(c);
	assert_int_equal(c->status, 0);
}

/*
 * The page with the text is waited for only in processes of root and of the user who records. Of
 * others the user half reads it in the library's file, and in no other.
 */
TEST_CASE(a_label_whose_page_is_not_there)
{
	static const char *const known[] = {"@0lLl", "@65534lLl", "&0lLl"};

	need_capture();
	for (size_t i = 0; i < N_OF(known); i++) {
		_capture_ struct capture c = CAPTURE_NONE;

		capture_open(&c, KERNEL_ATTACH_MULTI, 4u << 20, 0);
		capture_user(&c, known[i]);
		assert_as_expected(&c);
		assert_int_equal(c.got.n_labels, 2);
		assert_int_equal(c.counters[WIRE_COUNT_NO_LABEL], 0);
	}
}

/* Then no program can tell which file a page is of. */
TEST_CASE(a_label_whose_page_is_not_there_while_the_mappings_are_locked)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, 4u << 20, 0);
	capture_script(&c, ":0*300(l)");
	assert_int_equal(c.counters[WIRE_COUNT_NO_LABEL], 0);
	assert_int_equal(c.got.n_spans, 300);
	for (size_t i = 0; i < c.got.n_labels; i++)
		assert_string_equal(c.got.labels[i].key.text, "short");
}

TEST_CASE(a_label_in_another_file_is_lost)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, 4u << 20, 0);
	capture_user(&c, "&65534l");
	assert_int_equal(c.got.n_labels, 1);
	assert_int_equal(c.got.labels[0].key.len, strlen("<unknown>"));
	assert_string_equal(c.got.labels[0].key.text, "<unknown>");
	assert_int_equal(c.got.labels[0].key.in_file, 0);
	assert_int_equal(c.counters[WIRE_COUNT_NO_LABEL], 1);
}

/* Here the ring has room again for the spans. */
TEST_CASE(a_span_without_its_label_says_so)
{
	_capture_ struct capture c = CAPTURE_NONE;
	size_t n = 0;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, PAGE, 0);
	capture_begin(&c, "~*200(a)l(.)l");
	capture_wait_for_dot(&c);
	capture_drain(&c);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	for (size_t i = 0; i < c.got.n_spans; i++)
		n += c.got.spans[i].kind == WIRE_KIND_ACTIVITY &&
		     c.got.spans[i].label == WIRE_LABEL_LOST;
	assert_int_equal(n, 1);
	assert_int_equal(c.counters[WIRE_COUNT_NO_LABEL], 1);
	assert_int_equal(c.got.n_labels, 1);
	assert_int_equal(c.got.spans[c.got.n_spans - 1].label, 1);
}

TEST_CASE(a_full_ring_loses_what_it_counts)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	need_no_room(&c, "~*30000(a(b(c)d))");
}

TEST_CASE(threads_that_fill_it_together)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	need_no_room(&c, "p4(~*20000(a(b)))");
}

/* Frames without room are lost with their ends; the other frames are complete. */
TEST_CASE(a_stack_deeper_than_its_table)
{
	_capture_ struct capture c = CAPTURE_NONE;
	unsigned int depths[] = {0, 0};

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(&c, "T(~r66060(a))");
	assert_int_equal(c.status, 0);
	assert_true(c.counters[WIRE_LOST_STACK_FULL] > 0);
	assert_int_equal(c.got.n_spans + c.counters[WIRE_LOST_STACK_FULL], 66061);
	assert_int_equal(c.counters[WIRE_LOST_RING_FULL], 0);
	for (size_t i = 0; i < c.got.n_spans; i++) {
		unsigned int depth = c.got.n_spans - 1 - i;

		depths[0] += c.got.spans[i].depth != (depth < 65535 ? depth : 65535);
		depths[1] += c.got.spans[i].flags != 0;
	}
	assert_int_equal(depths[0], 0);
	assert_int_equal(depths[1], 0);
}

/* A later thread reuses the storage of a deep thread that has ended. */
TEST_CASE(deep_threads_one_after_the_other)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(&c, "T(r30000(a))T(r30000(b))T(r30000(y))T(r30000(c))");
	assert_int_equal(c.status, 0);
	assert_as_expected(&c);
	assert_whole(&c);
}

TEST_CASE(a_process_that_is_not_followed)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_start(&c, "*10(a(b))f(a)");
	kernel__enable(c.kernel, true);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	assert_int_equal(c.got.n_spans + c.got.n_forks + c.got.n_execs + c.got.n_exits, 0);
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 0);
	assert_int_equal(c.counters[WIRE_COUNT_HITS_OTHER], 10 * 4 + 2);
	assert_int_equal(c.counters[WIRE_COUNT_SPANS], 0);
}

TEST_CASE(nothing_counts_before_and_after)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_start(&c, "a(b(c)).a(b).d(e)");
	assert_int_equal(kernel__follow(c.kernel, c.pid), 0);
	assert_true(kernel__follows(c.kernel, c.pid));
	assert_false(kernel__follows(c.kernel, getpid()));
	capture_go(&c);
	capture_wait_for_dot(&c);
	kernel__enable(c.kernel, true);
	capture_go(&c);
	capture_wait_for_dot(&c);
	kernel__enable(c.kernel, false);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	assert_int_equal(c.got.n_spans, 2);
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 4);
	assert_int_equal(c.got.spans[0].query, BETA);
	assert_int_equal(c.got.spans[1].query, ALPHA);
}

static void assert_open(const struct capture *c, size_t n)
{
	assert_int_equal(c->got.n_spans, n);
	assert_int_equal(c->counters[WIRE_COUNT_OPEN], n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(c->got.spans[i].depth, n - 1 - i);
		assert_int_equal(c->got.spans[i].flags, WIRE_SPAN_OPEN);
		assert_int_equal(c->got.spans[i].invocation, WIRE_NO_INVOCATION);
	}
	assert_all_nested(&c->got);
}

TEST_CASE(an_interval_open_at_the_stop_is_sent_once)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_start(&c, "r600(b(.))");
	assert_int_equal(kernel__follow(c.kernel, c.pid), 0);
	kernel__enable(c.kernel, true);
	capture_go(&c);
	capture_wait_for_dot(&c);
	capture_stop(&c);
	assert_open(&c, 601);
	/* The stacks are empty now, so nothing is sent again. */
	capture_stop(&c);
	assert_int_equal(c.got.n_spans, 601);
}

/*
 * capture_stop() while the target runs. The CPU of a virtual machine may be descheduled in a BPF
 * program for longer than kernel__flush_open() waits.
 */
static void stop_in_flight(struct capture *c)
{
	int err = -EBUSY;

	kernel__enable(c->kernel, false);
	for (int i = 0; i < 60 && err == -EBUSY; i++)
		err = kernel__flush_open(c->kernel);
	assert_int_equal(err, 0);
	capture_drain(c);
	assert_int_equal(kernel__counters(c->kernel, c->counters), 0);
}

/* The frames of running threads are sent once, by the threads or by the stop. */
TEST_CASE(stopping_in_full_flight)
{
	_capture_ struct capture c = CAPTURE_NONE;
	struct pollfd ring;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, BIG_RING, 0);
	capture_start(&c, "p4(~*1000000000(a(b(c)d)e))");
	ring = (struct pollfd){.fd = kernel__ring_fd(c.kernel), .events = POLLIN};
	assert_int_equal(kernel__follow(c.kernel, c.pid), 0);
	capture_go(&c);
	for (int round = 0; round < 5; round++) {
		kernel__enable(c.kernel, true);
		for (int i = 0; i < 20; i++) {
			poll(&ring, 1, 1);
			capture_drain(&c);
		}
		stop_in_flight(&c);
	}
	assert_true(c.got.n_spans > 0);
	assert_int_equal(c.counters[WIRE_COUNT_SPANS], c.got.n_spans);
	assert_int_equal(c.counters[WIRE_LOST_RING_FULL], 0);
	assert_int_equal(c.counters[WIRE_COUNT_LEFT], 0);
	assert_all_nested(&c.got);
}

TEST_CASE(killed_in_a_query)
{
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_open(&c, KERNEL_ATTACH_MULTI, RING, 0);
	capture_script(&c, "a(b(c(k9)))");
	assert_true(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGKILL);
	assert_open(&c, 3);
	assert_as_expected(&c);
}

TEST_MAIN(NULL, NULL)
