// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/visit.h"

#include <errno.h>

#include "test.h"

static uint8_t stack[72];
static struct copied_part part = {.addr = 0x7000, .size = sizeof(stack), .bytes = stack};
static struct copied memory = {.parts = &part, .n = 1};
static struct stopped stopped = {.preserved = {[3] = 0x1100000005}}; /* r14 */
static struct call inner[] = {{.sp = 0x7000}, {.sp = 0x7010, .bp = 6, .bp_lost = true}};
static struct calls calls = {inner, 2, 2, true};
/* A definition: number 9 of crate 3. */
static const uint32_t def[] = {9, 3};

/* The key of a call that a plan describes so. */
static uint64_t key_in(uint32_t call, const struct plan_held_key *held,
		       const struct wire_memory_key *memory_key)
{
	struct item_call c = {&calls, call, &stopped, &memory};

	return item_key(held, memory_key, &c);
}

static void keys_are_where_the_plan_says(void **state)
{
	struct plan_held_key held = {.key = WIRE_KEY_LOCAL, .reg = WIRE_REG_R14};

	memset(stack, 0, sizeof(stack));
	/* Nobody knows where the inner call has saved it. */
	assert_true(item_key__is_preserved(&held));
	assert_int_equal(key_in(1, &held, NULL), 0);
	assert_int_equal(key_in(0, &held, NULL), wire_key(0, 5));
	held.reg = WIRE_REG_BP;
	assert_false(item_key__is_preserved(&held));
	assert_int_equal(key_in(1, &held, NULL), 0);
	inner[1].bp_lost = false;
	assert_int_equal(key_in(1, &held, NULL), wire_key(0, 6));
	held.reg = WIRE_REG_NONE;
	held.slot = 8;
	memcpy(stack + 0x18, def, sizeof(def));
	assert_int_equal(key_in(1, &held, NULL), wire_key(0, 9));
	held.key = WIRE_KEY_DEF;
	assert_int_equal(key_in(1, &held, NULL), wire_key(3, 9));
	held.key = WIRE_KEY_CRATE;
	assert_int_equal(key_in(1, &held, NULL), 0);
	held.key = WIRE_KEY_DEF;
	held.slot = 0x40;
	assert_int_equal(key_in(1, &held, NULL), 0);
	held.slot = 8;
	memset(stack + 0x1c, 0xff, 4);
	assert_int_equal(key_in(1, &held, NULL), 0);
}

/* The stack has the address of the key, or the key itself. */
static void keys_in_memory_are_read(void **state)
{
	struct plan_held_key held = {.key = WIRE_KEY_MEMORY, .reg = WIRE_REG_NONE, .slot = 8};
	struct wire_memory_key key = {.offset = 4, .first = 100, .words = {[1] = 1}};
	const uint32_t instance[] = {0, 101, 7, 4, 0};
	uint64_t at = 0x7028;

	memset(stack, 0, sizeof(stack));
	memcpy(stack + 0x28, instance, sizeof(instance));
	memcpy(stack + 0x18, &at, sizeof(at));
	assert_int_equal(key_in(1, &held, &key), wire_key(4, 7));
	held.in_place = true;
	held.slot = 0x18;
	assert_int_equal(key_in(1, &held, &key), wire_key(4, 7));
	/* The bytes behind the variant's are something else. */
	stack[0x2d] = 0xab;
	assert_int_equal(key_in(1, &held, &key), wire_key(7, 0xab65));
	key.narrow = 1;
	assert_int_equal(key_in(1, &held, &key), wire_key(4, 7));
	stack[0x2d] = 0;
	key.words[1] = WIRE_LOCAL_WORD;
	assert_int_equal(key_in(1, &held, &key), wire_key(0, 101));
	held.in_place = false;
	held.slot = 8;
	key.words[1] = WIRE_NO_WORD;
	assert_int_equal(key_in(1, &held, &key), 0);
	at = 0x9000;
	memcpy(stack + 0x18, &at, sizeof(at));
	assert_int_equal(key_in(1, &held, &key), 0);
}

/*
 * A compiler with one definition, its crate: each read returns a word with which everything goes
 * on. The context moves after `moves` reads, and after `execs_after` of them another program runs.
 */
static uint32_t n_reads, moves, execs_after;

static int do_read(void *ctx, const struct look_memory *ranges, uint32_t n, uint8_t *to)
{
	n_reads++;
	for (uint32_t i = 0; i < n; to += ranges[i++].size) {
		uint64_t word = n_reads > moves ? 0x2000 : 0x1000;

		memset(to, 0, ranges[i].size);
		if (ranges[i].size == 8)
			memcpy(to, &word, sizeof(word));
	}
	return 0;
}

static bool runs_same(void *ctx)
{
	return n_reads <= execs_after;
}

static struct stuck_rows rows_of(uint64_t a, uint64_t b)
{
	struct stuck_rows rows = {.items = calloc(2, sizeof(*rows.items)), .n = 2};

	rows.items[0].key = a;
	rows.items[1].key = b;
	n_reads = 0;
	moves = execs_after = UINT32_MAX;
	return rows;
}

static const struct plan_layout layout = {
	.wire = {.size = 16, .symbol_size = 16, .length = 8, .symbol = 4, .current = {.known = 1}},
	.disambiguator = 8,
	.parent = 12,
};

static void rows_are_named_while_the_context_stays(void **state)
{
	const struct item_names names = {.memory = {.read = do_read},
					 .runs_same = runs_same,
					 .layout = &layout,
					 .crate = "a"};
	struct stuck_rows rows = rows_of(wire_key(0, 0), wire_key(0, 0));

	assert_int_equal(item_names__find(&names, &rows), 0);
	assert_string_equal(rows.items[0].item, "a");
	assert_string_equal(rows.items[1].item, "a");
	stuck_rows__clear(&rows);
	/* It was dropped meanwhile. */
	rows = rows_of(wire_key(0, 0), wire_key(0, 0));
	moves = 4;
	assert_int_equal(item_names__find(&names, &rows), 0);
	assert_null(rows.items[0].item);
	assert_null(rows.items[1].item);
	stuck_rows__clear(&rows);
}

/* The reads may be of another user's program, so not one of them is shown. */
static void a_program_that_is_executed_meanwhile_has_no_names(void **state)
{
	const struct item_names names = {.memory = {.read = do_read},
					 .runs_same = runs_same,
					 .layout = &layout,
					 .crate = "a"};
	uint32_t reads;
	struct stuck_rows rows = rows_of(wire_key(0, 0), wire_key(0, 0));

	assert_int_equal(item_names__find(&names, &rows), 0);
	assert_string_equal(rows.items[1].item, "a");
	reads = n_reads;
	stuck_rows__clear(&rows);
	for (uint32_t after = 0; after < reads; after++) {
		rows = rows_of(wire_key(0, 0), wire_key(0, 0));
		execs_after = after;
		assert_int_equal(item_names__find(&names, &rows), 0);
		assert_int_equal(n_reads, reads);
		assert_null(rows.items[0].item);
		assert_null(rows.items[1].item);
		stuck_rows__clear(&rows);
	}
}

static void other_crates_have_no_names_here(void **state)
{
	const struct item_names names = {.memory = {.read = do_read},
					 .runs_same = runs_same,
					 .layout = &layout,
					 .crate = "a"};
	struct stuck_rows rows = rows_of(wire_key(3, 0), 0);

	assert_int_equal(item_names__find(&names, &rows), 0);
	assert_null(rows.items[0].item);
	assert_null(rows.items[1].item);
	stuck_rows__clear(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_where_the_plan_says),
		cmocka_unit_test(keys_in_memory_are_read),
		cmocka_unit_test(rows_are_named_while_the_context_stays),
		cmocka_unit_test(a_program_that_is_executed_meanwhile_has_no_names),
		cmocka_unit_test(other_crates_have_no_names_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
