// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Off-CPU intervals and the spans around them. See also test_bpf_stack_random.c. */

#include "test.h"
#include "../fixtures/stack_world.h"

#define SP 0x7f0000008000ULL

/* The thread is off the CPU for `ns`. Returns the time when it left. */
static wire_u64 be_off(wire_u64 ns)
{
	wire_u64 start;

	world_leave(WIRE_OFF_WAITING);
	start = world.now;
	world_return(ns);
	return start;
}

static const struct world_span *next_span(wire_u32 kind, wire_u64 start_ns, wire_u64 end_ns)
{
	const struct world_span *s = &world.spans[world.n_checked++];

	assert_true(world.n_checked <= world.n_spans);
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->start_ns, start_ns);
	assert_int_equal(s->end_ns, end_ns);
	return s;
}

static void assert_off(wire_u64 start_ns, wire_u64 ns, wire_u32 depth)
{
	assert_int_equal(next_span(WORLD_OFF_CPU, start_ns, start_ns + ns)->depth, depth);
}

static void assert_query(wire_u32 query, wire_u64 start_ns, wire_u64 end_ns)
{
	assert_int_equal(next_span(WIRE_KIND_QUERY, start_ns, end_ns)->query, query);
}

TEST_CASE_WITH(between_hits_it_belongs_to_what_is_on_top, world_setup, NULL)
{
	wire_u64 start[2], end[2], off[4];

	start[0] = world_start(1, 1, SP);
	off[0] = be_off(10);
	start[1] = world_start(2, 2, SP - 1000);
	off[1] = be_off(20);
	end[1] = world_end(2, SP - 1000, 5);
	off[2] = be_off(30);
	end[0] = world_end(1, SP, 6);
	off[3] = be_off(40);
	assert_off(off[0], 10, 1);
	assert_off(off[1], 20, 2);
	assert_query(2, start[1], end[1]);
	assert_off(off[2], 30, 1);
	assert_query(1, start[0], end[0]);
	assert_off(off[3], 40, 0);
	world_assert_empty();
}

/* A switch comes between the hit's read of the clock and off_cpu_begin(). */
TEST_CASE_WITH(one_that_began_after_the_hit_read_the_clock_is_sent, world_setup, NULL)
{
	wire_u64 before, start;

	world_start(1, 1, SP);
	before = world.now;
	world_leave(WIRE_OFF_WAITING);
	start = world.now;
	assert_true(start > before);
	assert_int_equal(off_cpu_begin(&world.t, before), start);
	off_cpu_done(&world.t);
	assert_off(start, 0, 1);
	world_end(1, SP, 5);
	world.n_checked++;
	world_assert_empty();
}

TEST_CASE_WITH(the_reason_is_printed, world_setup, NULL)
{
	world_start(1, 1, SP);
	for (wire_u32 reason = WIRE_OFF_PREEMPTED; reason < WIRE_OFF_MAX; reason++) {
		world_leave(reason);
		world_return(1);
		assert_int_equal(world.spans[world.n_spans - 1].query, reason);
	}
	assert_int_equal(world.n_spans, WIRE_OFF_MAX - 1);
}

static wire_u64 interrupted_at, left_at;
static int interruptions;

static void interrupt_there(void)
{
	if (interruptions++ == (int)interrupted_at)
		left_at = be_off(10);
}

/* At this point the program has decided which intervals come before its event. */
#define DECIDED_AT 3

/* Switch at point `at` of the program of a start or an end. False if it has fewer points. */
static bool interrupted(wire_u64 at, bool ends, wire_u64 *now)
{
	interrupted_at = at;
	interruptions = 0;
	left_at = 0;
	world.interrupt = interrupt_there;
	*now = ends ? world_end(1, SP, 6) : world_start(1, 1, SP);
	world.interrupt = NULL;
	return left_at;
}

TEST_CASE_WITH(in_a_start_it_is_within_what_starts, world_setup, NULL)
{
	wire_u64 at;

	for (at = 0;; at++) {
		bool before = at < DECIDED_AT;
		wire_u64 start, end;

		world_setup(state);
		world_end(7, SP, 0); /* so that the thread is known */
		world.n_switches = 0;
		if (!interrupted(at, false, &start))
			break;
		end = world_end(1, SP, 6);
		assert_off(left_at, 10, before ? 0 : 1);
		assert_query(1, start, end);
		/* A start before the end of an earlier interval would contain that interval. */
		assert_int_equal(start >= left_at + 10, before);
		world_assert_empty();
	}
	assert_true(at > DECIDED_AT + 3);
}

TEST_CASE_WITH(in_an_end_it_is_after_what_ends, world_setup, NULL)
{
	wire_u64 at;

	for (at = 0;; at++) {
		bool before = at < DECIDED_AT;
		wire_u64 start, end;

		world_setup(state);
		start = world_start(1, 1, SP);
		if (!interrupted(at, true, &end))
			break;
		/* An interval that is noted after the last send waits for the next event. */
		world_flush();
		if (!before)
			assert_query(1, start, end);
		assert_off(left_at, 10, before ? 1 : 0);
		if (before)
			assert_query(1, start, end);
		assert_int_equal(end >= left_at + 10, before);
		world_assert_empty();
	}
	assert_true(at > DECIDED_AT + 3);
}

TEST_CASE_WITH(an_off_cpu_interval_without_room_extends_the_last_one, world_setup, NULL)
{
	wire_u64 off[OFF_CPU_WAITING + 2], now;

	now = off_cpu_begin(&world.t, ++world.now);
	for (int i = 0; i < OFF_CPU_WAITING + 2; i++)
		off[i] = be_off(10);
	world.t.scratch.event =
		(struct frame){.sp = SP, .query = 1, .group = 1, .state = FRAME_STARTED};
	stack_push(&world.t, now);
	assert_int_equal(world.n_spans, 0);
	off_cpu_done(&world.t);
	for (int i = 0; i < OFF_CPU_WAITING - 1; i++)
		assert_off(off[i], 10, 1);
	assert_off(off[OFF_CPU_WAITING - 1],
		   off[OFF_CPU_WAITING + 1] + 10 - off[OFF_CPU_WAITING - 1], 1);
	assert_int_equal(world.n_spans, OFF_CPU_WAITING);
}

/* The count of each flag must be the number of records with that flag. */
static void assert_flags_balance(void)
{
	wire_u64 left = 0, open = 0;

	for (size_t i = 0; i < world.n_spans; i++) {
		left += !!(world.spans[i].flags & WIRE_SPAN_LEFT);
		open += !!(world.spans[i].flags & WIRE_SPAN_OPEN);
	}
	assert_int_equal(world.counters[WIRE_COUNT_LEFT], left);
	assert_int_equal(world.counters[WIRE_COUNT_OPEN], open);
}

TEST_CASE_WITH(merged_intervals_are_counted_once_and_keep_their_flags, world_setup, NULL)
{
	world_start(1, 1, SP);
	world.n_spans = 0;
	off_cpu_begin(&world.t, ++world.now);
	for (int i = 0; i < OFF_CPU_WAITING; i++)
		be_off(10);
	/* Three of these have no return. All four are merged into the newest waiting one. */
	for (int i = 0; i < 3; i++)
		world_leave(WIRE_OFF_WAITING);
	be_off(10);
	off_cpu_done(&world.t);
	assert_int_equal(world.n_spans, OFF_CPU_WAITING);
	assert_int_equal(world.spans[OFF_CPU_WAITING - 1].flags, WIRE_SPAN_LEFT);
	assert_int_equal(world.spans[OFF_CPU_WAITING - 1].end_ns, world.now);
	assert_flags_balance();
}

/* The counts of noted and sent intervals wrap at 256. The hits note every number of intervals. */
TEST_CASE_WITH(the_counts_wrap_and_stay_balanced, world_setup, NULL)
{
	wire_u64 ended_ns = 0;

	world_start(1, 1, SP);
	for (int hit = 0; hit < 1000; hit++) {
		const struct off_cpu *o = &world.t.off_cpu;
		int n = hit % (OFF_CPU_WAITING + 3);
		size_t before = world.n_spans;

		off_cpu_begin(&world.t, ++world.now);
		for (int i = 0; i < n; i++) {
			be_off(10);
			assert_in_range((wire_u8)(o->noted - o->sent), 1, OFF_CPU_WAITING);
		}
		off_cpu_done(&world.t);
		assert_int_equal(o->noted, o->sent);
		assert_int_equal(world.n_spans - before, n < OFF_CPU_WAITING ? n : OFF_CPU_WAITING);
		for (size_t i = before; i < world.n_spans; i++) {
			assert_true(world.spans[i].start_ns >= ended_ns);
			ended_ns = world.spans[i].end_ns;
		}
		assert_true(ended_ns <= world.now);
	}
	assert_flags_balance();
}

/*
 * The queue was full just before the last hit ended. One more interval at any point of the next hit
 * extends the newest waiting interval. The hit must not be dated before the end of that interval.
 */
TEST_CASE_WITH(one_that_grows_in_a_hit_ends_before_its_event, world_setup, NULL)
{
	wire_u64 at;

	for (at = 0;; at++) {
		wire_u64 start;
		size_t started;

		world_setup(state);
		world_end(7, SP, 0);
		world.t.off_cpu.state = OFF_CPU_BUSY;
		for (int i = 0; i < OFF_CPU_WAITING; i++)
			be_off(10);
		world.t.off_cpu.state = OFF_CPU_IDLE;
		if (!interrupted(at, false, &start))
			break;
		started = world.n_spans;
		world_end(1, SP, 6);
		for (size_t i = 0; i < started; i++)
			assert_true(world.spans[i].depth || world.spans[i].end_ns <= start);
		assert_flags_balance();
	}
	assert_true(at > DECIDED_AT + 3);
}

/* The interval is noted between the program's last look at the queue and its end. */
TEST_CASE_WITH(an_interval_noted_as_a_hit_ends_is_sent_next, world_setup, NULL)
{
	wire_u64 off;

	world_start(1, 1, SP);
	for (int next = 0; next < 2; next++) {
		world.t.off_cpu.state = OFF_CPU_BUSY;
		off = be_off(10);
		world.t.off_cpu.state = OFF_CPU_IDLE;
		if (next) {
			wire_u64 later = be_off(5);

			assert_off(off, 10, 1);
			assert_off(later, 5, 1);
		} else {
			wire_u64 start = world_start(2, 2, SP - 1000);
			wire_u64 end = world_end(2, SP - 1000, 1);

			assert_off(off, 10, 1);
			assert_query(2, start, end);
		}
	}
	assert_int_equal(world.n_checked, world.n_spans);
}

TEST_CASE_WITH(an_unfollowed_thread_is_not, world_setup, NULL)
{
	be_off(10);
	assert_int_equal(world.n_spans, 0);
	/* The thread leaves the CPU before its first hit. */
	world_leave(WIRE_OFF_WAITING);
	world_start(1, 1, SP);
	world_return(10);
	assert_int_equal(world.n_spans, 0);
}

TEST_CASE_WITH(a_thread_that_exits_is_off_no_more, world_setup, NULL)
{
	wire_u64 now;

	world_start(1, 1, SP);
	now = off_cpu_settle(&world.t, 1, ++world.now);
	stack_flush(&world.t, now);
	be_off(10);
	assert_int_equal(world.n_spans, 1);
	assert_int_equal(world.counters[WIRE_COUNT_OPEN], 1);
}

TEST_CASE_WITH(an_off_cpu_interval_at_the_stop_is_open, world_setup, NULL)
{
	wire_u64 start = world_start(1, 1, SP), off, end;

	world_leave(WIRE_OFF_WAITING);
	off = world.now;
	world.now += 99;
	end = world_flush();
	assert_int_equal(world.spans[0].flags, WIRE_SPAN_OPEN);
	assert_off(off, 100, 1);
	assert_query(1, start, end);
	assert_int_equal(world.counters[WIRE_COUNT_OPEN], 2);
	/* A return after the flush sends nothing. */
	world_return(10);
	world_assert_empty();
}

TEST_CASE_WITH(a_hit_has_the_stack_to_itself, world_setup, NULL)
{
	world_start(1, 1, SP);
	assert_false(off_cpu_is_busy(&world.t));
	off_cpu_begin(&world.t, ++world.now);
	assert_true(off_cpu_is_busy(&world.t));
	be_off(10);
	assert_true(off_cpu_is_busy(&world.t));
	off_cpu_done(&world.t);
	assert_false(off_cpu_is_busy(&world.t));
	/* The interval has left no frame on the stack. */
	assert_int_equal(world.t.n, 1);
}

TEST_CASE_WITH(a_return_without_an_event_is_seen, world_setup, NULL)
{
	wire_u64 left, start, again;

	world_start(1, 1, SP);
	world_leave(WIRE_OFF_WAITING);
	left = world.now;
	again = be_off(10);
	assert_int_equal(world.spans[0].flags, WIRE_SPAN_LEFT);
	assert_off(left, again - left, 1);
	assert_off(again, 10, 1);
	world_leave(WIRE_OFF_WAITING);
	left = world.now;
	start = world_start(2, 2, SP - 1000);
	assert_int_equal(world.spans[2].flags, WIRE_SPAN_LEFT);
	assert_off(left, start - left, 1);
	assert_int_equal(world.counters[WIRE_COUNT_LEFT], 2);
}

TEST_CASE_WITH(no_event_comes_before_it_has_ended, world_setup, NULL)
{
	wire_u64 back;

	world_start(1, 1, SP);
	be_off(10);
	back = world.now;
	assert_int_equal(off_cpu_begin(&world.t, back - 5), back);
	off_cpu_done(&world.t);
	assert_int_equal(off_cpu_settle(&world.t, 1, back - 5), back);
}

TEST_MAIN(NULL, NULL)
