// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"

#include "../../bpf/noted.h"

#define PID    11
#define SERIAL 7000

static const struct wire_mapping a = {0x1000, 0x3000, 0x100, 1, 0}, b = {0x5000, 0x6000, 0, 2, 0};

static void noted_loop(wire_u32 n, long (*fn)(wire_u32 i, void *ctx), void *ctx)
{
	for (wire_u32 i = 0; i < n && !fn(i, ctx); i++)
		;
}

static struct noted_mappings begun(wire_u32 pid, wire_u64 serial)
{
	struct noted_mappings n = {0};

	noted_begin(&n, pid, serial);
	return n;
}

static void assert_found(const struct noted_mappings *n, wire_u64 pc, wire_u32 file, wire_u64 bias)
{
	struct wire_mapping m = {0};

	assert_int_equal(noted_find(n, PID, pc, &m), 0);
	assert_int_equal(m.file, file);
	assert_int_equal(m.bias, bias);
	assert_true(pc >= m.start && pc < m.end);
}

static void assert_missing(const struct noted_mappings *n, wire_u64 pc)
{
	struct wire_mapping m = {0};

	assert_int_not_equal(noted_find(n, PID, pc, &m), 0);
}

TEST_CASE(mappings_are_found_by_their_addresses)
{
	struct noted_mappings n = begun(PID, SERIAL);

	assert_missing(&n, 0);
	noted_add(&n, PID, &a);
	noted_add(&n, PID, &b);
	assert_missing(&n, 0xfff);
	assert_found(&n, 0x1000, 1, 0x100);
	assert_found(&n, 0x2fff, 1, 0x100);
	assert_missing(&n, 0x3000);
	assert_found(&n, 0x5000, 2, 0);
	assert_missing(&n, 0x6000);
}

TEST_CASE(an_entry_that_is_being_made_has_none)
{
	struct noted_mappings n = {0};

	noted_add(&n, PID, &a);
	assert_int_equal(n.n, 0);
	n.pid = PID;
	noted_add(&n, PID, &a);
	assert_int_equal(n.n, 0);
	assert_missing(&n, 0x1000);
}

TEST_CASE(another_process_finds_and_adds_nothing)
{
	struct noted_mappings n = begun(PID + 1, SERIAL);

	noted_add(&n, PID + 1, &a);
	assert_missing(&n, 0x1000);
	noted_add(&n, PID, &b);
	assert_int_equal(n.n, 1);
}

TEST_CASE(what_has_no_room_is_left_out)
{
	struct noted_mappings n = begun(PID, SERIAL);

	for (wire_u32 i = 0; i < NOTED_MAX; i++)
		noted_add(&n, PID, &a);
	noted_add(&n, PID, &b);
	assert_missing(&n, 0x5000);
	/* Two threads saw room for one. */
	n.n = NOTED_MAX + 5;
	noted_add(&n, PID, &b);
	assert_int_equal(n.n, NOTED_MAX + 5);
}

/*
 * A thread was about to add a mapping to the entry of its process when that became another's: what
 * it writes lands there.
 */
TEST_CASE(what_was_meant_for_another_content_is_not_found)
{
	struct noted_mappings before = begun(PID, SERIAL), now = begun(PID, SERIAL + 1);

	noted_add(&before, PID, &a);
	assert_found(&before, 0x1000, 1, 0x100);
	now.items[0] = before.items[0];
	assert_missing(&now, 0x1000);
	/* It does not hide what is there. */
	now.n = 1;
	noted_add(&now, PID, &(struct wire_mapping){0x1000, 0x3000, 0x200, 3, 0});
	assert_found(&now, 0x1000, 3, 0x200);
}

/* Two wrote to one item at a time. */
TEST_CASE(a_mixture_is_not_found)
{
	struct noted_mappings n = begun(PID, SERIAL), mixed;

	noted_add(&n, PID, &a);
	for (int field = 0; field < 4; field++) {
		struct wire_mapping *m = &mixed.items[0].mapping;

		mixed = n;
		m->start -= field == 0 ? 0x800 : 0;
		m->end += field == 1 ? 0x800 : 0;
		m->bias += field == 2 ? 0x800 : 0;
		m->file += field == 3;
		assert_missing(&mixed, 0x1800);
	}
	/* Of mappings of equal length, both ends. */
	mixed = n;
	mixed.items[0].mapping.start ^= 0x8000;
	mixed.items[0].mapping.end ^= 0x8000;
	assert_missing(&mixed, 0x9800);
}

TEST_MAIN(NULL, NULL)
