// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/stack_table.h"

#include "test.h"
#include "../fixtures/walks.h"
#include "base/cleanup.h"

#define _stack_writer_ __cleanup(stack_writer__destroy)
#define _stack_table_  __cleanup(stack_table__destroy)
#define _byte_buffer_  __cleanup(byte_buffer__destroy)

static const struct stack_limits limits = {.strings = 10, .locations = WALK_LOCATIONS};

static uint32_t add(struct stack_writer *w, uint32_t parent, uint8_t kind, uint32_t place)
{
	const struct trace_stack s = {.parent = parent, .place = place, .kind = kind};
	uint32_t id = 0;

	assert_int_equal(stack_writer__add(w, &s, &limits, &id), 0);
	return id;
}

/* Add the stack of a walk; returns its innermost entry. */
static uint32_t add_walk(struct stack_writer *w, const struct walk *walk)
{
	uint32_t id = TRACE_NO_STACK;

	for (uint32_t i = 0; i < walk->depth; i++) {
		struct trace_stack s = walk_entry(walk, i);

		s.parent = id;
		assert_int_equal(stack_writer__add(w, &s, &limits, &id), 0);
	}
	return id;
}

/* The payload of what is new goes into `t`. */
static void pass_on(struct stack_writer *w, struct stack_table *t)
{
	_byte_buffer_ struct byte_buffer bytes = {0};
	struct byte_reader in;
	const char *why = NULL;

	assert_int_equal(stack_writer__payload(w, &bytes), 0);
	in = (struct byte_reader){.at = bytes.data, .end = bytes.data + bytes.size};
	assert_int_equal(stack_table__take(t, &in, &limits, &why), 0);
}

static void assert_same(const struct stack_table *a, const struct stack_table *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t id = 1; id <= a->n; id++) {
		const struct trace_stack *x = stack_table__get(a, id), *y = stack_table__get(b, id);

		assert_int_equal(x->parent, y->parent);
		assert_int_equal(x->place, y->place);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->depth, y->depth);
	}
}

static void the_same_entry_has_the_same_number(void **state)
{
	_stack_writer_ struct stack_writer w = {0};
	uint32_t a = add(&w, 0, TRACE_STACK_LOCATION, 5);
	uint32_t b = add(&w, a, TRACE_STACK_QUERY, 5);

	assert_int_equal(a, 1);
	assert_int_equal(b, 2);
	assert_int_equal(add(&w, 0, TRACE_STACK_LOCATION, 5), a);
	assert_int_equal(add(&w, a, TRACE_STACK_QUERY, 5), b);
	assert_int_equal(add(&w, a, TRACE_STACK_LOAD, 5), 3);
	assert_int_equal(add(&w, 0, TRACE_STACK_QUERY, 5), 4);
	assert_int_equal(add(&w, b, TRACE_STACK_UNKNOWN, 0), 5);
	assert_int_equal(add(&w, 5, TRACE_STACK_LOCATION, TRACE_NO_LOCATION), 6);
	assert_int_equal(stack_table__get(&w.table, 6)->depth, 4);
	assert_null(stack_table__get(&w.table, 7));
	assert_null(stack_table__get(&w.table, TRACE_NO_STACK));
}

static void what_the_file_does_not_hold_is_refused(void **state)
{
	static const struct trace_stack bad[] = {
		{.parent = 1},
		{.kind = TRACE_STACK_LOCATION, .place = WALK_LOCATIONS},
		{.kind = TRACE_STACK_QUERY, .place = 10},
		{.kind = TRACE_STACK_HASHING, .place = UINT32_MAX},
		{.kind = TRACE_STACK_UNKNOWN, .place = 1},
		{.kind = TRACE_STACK_KINDS},
		{.kind = UINT8_MAX},
	};
	_stack_writer_ struct stack_writer w = {0};
	uint32_t id = 77;

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(stack_writer__add(&w, &bad[i], &limits, &id), -EINVAL);
	assert_int_equal(id, 77);
	assert_int_equal(w.table.n, 0);
}

static void stacks_have_a_limit_and_go_on_below_it(void **state)
{
	_stack_writer_ struct stack_writer w = {0};
	_stack_table_ struct stack_table t = {0};
	struct trace_stack s = {.place = 1};
	uint32_t id = 0;

	for (uint32_t i = 0; i < QPT_STACK_DEPTH_MAX; i++) {
		s.parent = id;
		assert_int_equal(stack_writer__add(&w, &s, &limits, &id), 0);
	}
	s.parent = id;
	s.place = 2;
	assert_int_equal(stack_writer__add(&w, &s, &limits, &id), -E2BIG);
	/* The refused entry has left no trace of its place. */
	assert_int_equal(add(&w, id - 1, TRACE_STACK_LOCATION, 3), id + 1);
	pass_on(&w, &t);
	assert_same(&w.table, &t);
}

static void walks_come_back_whatever_the_batches(void **state)
{
	struct rng rng = rng_new();
	struct walk walks[3] = {{.rng = &rng}, {.rng = &rng}, {.rng = &rng}};
	_stack_writer_ struct stack_writer w = {0};
	_stack_table_ struct stack_table t = {0};

	for (int i = 0; i < 3000; i++) {
		struct walk *walk = &walks[rng_below(&rng, 3)];
		uint32_t id;

		walk_step(walk);
		id = add_walk(&w, walk);
		assert_int_equal(stack_table__get(&w.table, id)->depth, walk->depth);
		assert_int_equal(add_walk(&w, walk), id);
		if (w.n_new && !rng_below(&rng, 30))
			pass_on(&w, &t);
	}
	if (w.n_new)
		pass_on(&w, &t);
	assert_same(&w.table, &t);
}

/* An entry of a known call takes a byte; places that are new take more. */
static void entries_are_small(void **state)
{
	struct rng rng = {1};
	struct walk walk = {.rng = &rng};
	_stack_writer_ struct stack_writer w = {0};
	_byte_buffer_ struct byte_buffer bytes = {0};

	for (int i = 0; i < 2000; i++) {
		walk_step(&walk);
		add_walk(&w, &walk);
	}
	assert_int_equal(stack_writer__payload(&w, &bytes), 0);
	assert_true(w.table.n > 10000);
	assert_true(bytes.size < 3 * w.table.n);
}

/* The example of the specification. */
static void the_payload_is_as_specified(void **state)
{
	static const uint8_t want[] = {1, 3, 2, 2, 1, 1, 2, 0, 0, 0, 10, 10, 2};
	_stack_writer_ struct stack_writer w = {0};
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(add(&w, 0, TRACE_STACK_LOCATION, 5), 1);
	assert_int_equal(add(&w, 1, TRACE_STACK_LOCATION, 10), 2);
	assert_int_equal(add(&w, 1, TRACE_STACK_LOCATION, 11), 3);
	assert_int_equal(stack_writer__payload(&w, &bytes), 0);
	assert_int_equal(bytes.size, sizeof(want));
	assert_memory_equal(bytes.data, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_entry_has_the_same_number),
		cmocka_unit_test(what_the_file_does_not_hold_is_refused),
		cmocka_unit_test(stacks_have_a_limit_and_go_on_below_it),
		cmocka_unit_test(walks_come_back_whatever_the_batches),
		cmocka_unit_test(entries_are_small),
		cmocka_unit_test(the_payload_is_as_specified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
