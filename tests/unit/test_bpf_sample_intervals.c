// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A sample interrupts the programs of a thread's hits: here after every single instruction of them.
 * The processor's trap flag is set while a hit runs, and the handler of the trap reads the thread's
 * stack as a sample does.
 */
#include "../fixtures/random.h"
#include "../fixtures/stack_world.h"
#include "../../bpf/sample_intervals.h"

#include <signal.h>
#include <stddef.h>

#define SP 0x7f0000008000ULL

static struct wire_sample note(void)
{
	struct wire_sample s = {0};

	sample_note_interval(&world.t, &s);
	return s;
}

static bool is_same(const struct wire_sample *a, const struct wire_sample *b)
{
	return a->busy == b->busy && a->query == b->query && a->depth == b->depth &&
	       a->kind == b->kind && a->lib == b->lib && a->label == b->label;
}

static void assert_interval(wire_u32 query, wire_u32 kind, wire_u32 depth)
{
	struct wire_sample s = note();

	assert_int_equal(s.busy, 0);
	assert_int_equal(s.query, query);
	assert_int_equal(s.kind, kind);
	assert_int_equal(s.depth, depth);
}

TEST_CASE_WITH(the_interval_on_top_is_noted, world_setup, NULL)
{
	assert_interval(WIRE_NO_QUERY, 0, 0);
	world_start(3, 1, SP);
	assert_interval(3, WIRE_KIND_QUERY, 1);
	world_guard(9, 7, 1, SP - 500);
	assert_interval(9, WIRE_KIND_ACTIVITY, 2);
	world_guard_end(7, 1, SP - 500, false);
	assert_interval(3, WIRE_KIND_QUERY, 1);
	world_end(1, SP, 5);
	assert_interval(WIRE_NO_QUERY, 0, 0);
}

TEST_CASE_WITH(deep_ones_are_in_the_table_of_all_threads, world_setup, NULL)
{
	for (wire_u32 i = 0; i < 3 * STACK_INLINE_FRAMES; i++) {
		world_start(100 + i, 1, SP - 600 * i);
		assert_interval(100 + i, WIRE_KIND_QUERY, i + 1);
	}
}

static void hide(wire_u32 query, wire_u64 sp)
{
	world_push(&(struct frame){.sp = sp,
				   .query = (wire_u16)query,
				   .group = 1,
				   .state = FRAME_STARTED,
				   .hidden = 1});
}

TEST_CASE_WITH(intervals_that_are_not_recorded_are_passed_over, world_setup, NULL)
{
	hide(1, SP);
	assert_interval(WIRE_NO_QUERY, 0, 0);
	world_start(2, 1, SP - 600);
	hide(3, SP - 1200);
	hide(4, SP - 1800);
	assert_interval(2, WIRE_KIND_QUERY, 1);
}

TEST_CASE_WITH(an_interval_without_room_makes_the_top_unknown, world_setup, NULL)
{
	world.overflow_max = 0;
	for (wire_u32 i = 0; i <= STACK_INLINE_FRAMES; i++)
		world_start(100 + i, 1, SP - 600 * i);
	assert_int_equal(note().busy, 1);
	assert_int_equal(note().query, WIRE_NO_QUERY);
}

/* ---- After each instruction ------------------------------------------------------------------ */

#define MOST_KEPT 4

/* The intervals that samples within one hit saw, without repetitions. */
static struct {
	struct wire_sample kept[MOST_KEPT];
	unsigned int n;
	unsigned long n_samples;
	bool overflow;
} seen;

static void on_trap(int sig)
{
	struct wire_sample s = note();

	(void)sig;
	seen.n_samples++;
	if (seen.n && is_same(&seen.kept[seen.n - 1], &s))
		return;
	if (seen.n == MOST_KEPT)
		seen.overflow = true;
	else
		seen.kept[seen.n++] = s;
}

static __attribute__((noinline)) void set_trap_flag(bool on)
{
	if (on)
		asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	else
		asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

struct hit {
	enum { START, END, GUARD, GUARD_END, CAUGHT } what;
	wire_u32 query;
	wire_u64 sp;
};

static void run(const struct hit *h)
{
	switch (h->what) {
	case START:
		world_start(h->query, 1, h->sp);
		break;
	case END:
		world_end(1, h->sp, 5);
		break;
	case GUARD:
		world_guard(h->query, 7, 1, h->sp);
		break;
	case GUARD_END:
		world_guard_end(7, 1, h->sp, false);
		break;
	case CAUGHT:
		world_caught(h->sp);
		break;
	}
}

/*
 * The hit's samples must show the stack as it was before, then that nothing is known, then the
 * stack as it is after it.
 */
static void run_with_samples(const struct hit *h)
{
	struct wire_sample before = note(), after;
	unsigned int at = 0;

	seen.n = 0;
	set_trap_flag(true);
	run(h);
	set_trap_flag(false);
	after = note();
	assert_false(seen.overflow || before.busy || after.busy);
	assert_true(is_same(&seen.kept[at++], &before));
	assert_true(at < seen.n && seen.kept[at++].busy);
	assert_true(at < seen.n && is_same(&seen.kept[at++], &after));
	assert_int_equal(at, seen.n);
}

static struct rng rng;

/* A switch at any of the points of a hit where the test of switches has one. */
static void switch_sometimes(void)
{
	if (rng_below(&rng, 4))
		return;
	world_leave(1 + rng_below(&rng, WIRE_OFF_MAX - 1));
	world_return(1 + rng_below(&rng, 50));
}

TEST_CASE_WITH(a_sample_within_a_hit_sees_no_half_of_it, world_setup, NULL)
{
	struct sigaction act = {.sa_handler = on_trap}, before;
	struct hit running[40];
	wire_u32 n = 0;

	rng = rng_new();
	sigaction(SIGTRAP, &act, &before);
	world.interrupt = switch_sometimes;
	/* The first hit of a thread is the same for every sequence. */
	run(&(struct hit){END, 0, SP});
	for (int i = 0; i < 400; i++) {
		struct hit h = {.query = 1 + rng_below(&rng, 400)};

		h.sp = (n ? running[n - 1].sp : SP) - 600;
		if (n && (n == N_OF(running) || rng_below(&rng, 2))) {
			h = running[--n];
			h.what = h.what == START ? END : GUARD_END;
			if (!rng_below(&rng, 8)) {
				h.what = CAUGHT;
				h.sp += 8;
			}
		} else {
			h.what = rng_below(&rng, 2) ? START : GUARD;
			running[n++] = h;
		}
		run_with_samples(&h);
		assert_int_equal(note().depth, n);
		assert_int_equal(note().query, n ? running[n - 1].query : WIRE_NO_QUERY);
	}
	sigaction(SIGTRAP, &before, NULL);
	print_message("%lu samples\n", seen.n_samples);
	assert_true(seen.n_samples > 400 * 50);
}

TEST_MAIN(NULL, NULL)
