// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of bpf/counted.h: executions that are counted, with a ring buffer that may be full. */

#include "test.h"
#include "../../bpf/thread_stack.h"

/* ---- The kernel half's environment, natively ------------------------------------------------- */

#define QPROF_MAPS_H /* in place of maps.h */
typedef uint8_t __u8;
typedef uint32_t __u32;
typedef uint64_t __u64;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

static struct wire_knobs knobs;
static struct wire_watched watched;
static struct wire_counted ring, sent[64];
static uint32_t n_sent, room;
static uint64_t lost;

static void *bpf_ringbuf_reserve(void *to, uint64_t size, uint64_t flags)
{
	assert_int_equal(size, sizeof(ring));
	return room ? to : NULL;
}

static void bpf_ringbuf_submit(const void *record, uint64_t flags)
{
	assert_in_range(n_sent, 0, N_OF(sent) - 1);
	memcpy(&sent[n_sent++], record, sizeof(ring));
	room--;
}

static uint64_t maps_wakeup_flags(void)
{
	return 0;
}

static void maps_count_n(uint32_t counter, uint64_t by)
{
	assert_int_equal(counter, WIRE_LOST_RING_FULL);
	lost += by;
}

static volatile struct wire_watched *maps_watched(uint32_t lib, uint32_t query)
{
	return query < WIRE_WATCHED_QUERIES ? &watched : NULL;
}

static long bpf_loop(uint32_t n, long (*body)(uint32_t i, void *ctx), void *ctx, uint64_t flags)
{
	uint32_t i = 0;

	while (i < n && !body(i, ctx))
		i++;
	return i;
}

#include "../../bpf/counted.h"

/* ---- Tests ----------------------------------------------------------------------------------- */

static struct thread_stack t;

static int setup(void **state)
{
	t = (struct thread_stack){.pid = 10, .tid = 11};
	knobs.governed = watched.counted = 1;
	n_sent = 0;
	lost = 0;
	room = N_OF(sent);
	return 0;
}

static void count(uint32_t query, int n)
{
	while (n--)
		assert_int_equal(counted_add(&t, 3, query, 500), 1);
}

/* Executions of a query in all records. */
static uint64_t received(uint32_t query)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < n_sent; i++)
		if (sent[i].query == query)
			n += sent[i].n;
	return n;
}

static void a_few_at_a_time_are_sent(void **state)
{
	count(7, WIRE_COUNTED_STEP - 1);
	assert_int_equal(n_sent, 0);
	count(7, WIRE_COUNTED_STEP + 1);
	assert_int_equal(n_sent, 2);
	assert_int_equal(sent[0].type, WIRE_COUNTED);
	assert_int_equal(sent[0].lib, 3);
	assert_int_equal(sent[0].pid, 10);
	assert_int_equal(sent[0].tid, 11);
	assert_int_equal(sent[0].time_ns, 500);
	assert_int_equal(received(7), 2 * WIRE_COUNTED_STEP);
	assert_int_equal(t.counted[7], 0);
}

static void what_is_not_counted_is_left_to_be_recorded(void **state)
{
	assert_int_equal(counted_add(&t, 3, WIRE_WATCHED_QUERIES, 500), 0);
	watched.counted = 0;
	assert_int_equal(counted_add(&t, 3, 7, 500), 0);
	counted_settle(&t, 600);
	assert_int_equal(n_sent, 0);
}

static void a_later_record_has_what_found_no_room(void **state)
{
	room = 0;
	count(7, 100);
	assert_int_equal(lost, 0);
	room = 1;
	count(7, 1);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent[0].n, 101);
}

/* A counter is one byte: it is lost before it would begin at 0 again. */
static void each_execution_is_sent_or_lost_however_long_the_ring_is_full(void **state)
{
	room = 0;
	count(7, COUNTED_MOST - 1);
	assert_int_equal(lost, 0);
	count(7, 1);
	assert_int_equal(lost, COUNTED_MOST);
	assert_int_equal(t.counted[7], 0);
	count(7, 1000);
	room = 1;
	count(7, 1);
	assert_int_equal(n_sent, 1);
	assert_int_equal(received(7) + lost, COUNTED_MOST + 1000 + 1);
	/* The neighbours share a word with it. */
	assert_int_equal(t.counted[6], 0);
	assert_int_equal(t.counted[8], 0);
}

static void the_rest_is_sent_at_the_end(void **state)
{
	static const uint32_t queries[] = {0, 1, 2, 3, 4, WIRE_WATCHED_QUERIES - 1};

	for (size_t i = 0; i < N_OF(queries); i++)
		count(queries[i], 1 + (int)i % 3);
	counted_settle(&t, 600);
	assert_int_equal(n_sent, N_OF(queries));
	for (size_t i = 0; i < N_OF(queries); i++)
		assert_int_equal(received(queries[i]), 1 + i % 3);
	assert_int_equal(sent[0].time_ns, 600);
	counted_settle(&t, 700);
	assert_int_equal(n_sent, N_OF(queries));
}

static void the_rest_that_finds_no_room_is_lost(void **state)
{
	count(4, 3);
	count(5, 2);
	count(6, 1);
	room = 1;
	counted_settle(&t, 600);
	assert_int_equal(received(4), 3);
	assert_int_equal(lost, 3);
	/* Without a budget nothing was counted. */
	count(7, 1);
	knobs.governed = 0;
	counted_settle(&t, 700);
	assert_int_equal(t.counted[7], 1);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_few_at_a_time_are_sent),
		TEST(what_is_not_counted_is_left_to_be_recorded),
		TEST(a_later_record_has_what_found_no_room),
		TEST(each_execution_is_sent_or_lost_however_long_the_ring_is_full),
		TEST(the_rest_is_sent_at_the_end),
		TEST(the_rest_that_finds_no_room_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
