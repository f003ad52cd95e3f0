// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/stack_table.h"

#include "test.h"
#include "../fixtures/walks.h"
#include "base/cleanup.h"

#define _stack_table_ __cleanup(stack_table__destroy)
#define _byte_buffer_ __cleanup(byte_buffer__destroy)

static const struct stack_limits limits = {.strings = 10, .locations = WALK_LOCATIONS};

/* The copy has the exact size, so a sanitizer reports a read past the end. */
static int take(struct stack_table *t, const uint8_t *bytes, size_t size, const char **why)
{
	_free_ uint8_t *copy = malloc(size ? size : 1);
	struct byte_reader in = {.at = copy, .end = copy + size};

	memcpy(copy, bytes, size);
	return stack_table__take(t, &in, &limits, why);
}

#define TAKE(t, why, ...)                                   \
	({                                                  \
		const uint8_t __bytes[] = {__VA_ARGS__};    \
		take((t), __bytes, sizeof(__bytes), (why)); \
	})

#define LOCATED(v) 2 * (v) /* zigzag */

TEST_CASE(entries_refer_to_lists_and_numbers)
{
	_stack_table_ struct stack_table t = {0};
	const struct trace_stack *s;
	const char *why;

	/* Location 5; query 3 in it; location 5 in that, by its number; and again, from the list.
	 */
	must(TAKE(&t, &why, 1, 4, 2, 3, 1, 1, 2, 0, 1, 10, 2, LOCATED(5), 3 << 3 | 1));
	assert_struct(t, n, 4, n_places, 2);
	s = stack_table__get(&t, 2);
	assert_struct(*s, parent, 1, kind, TRACE_STACK_QUERY, place, 3);
	s = stack_table__get(&t, 3);
	assert_struct(*s, parent, 2, kind, TRACE_STACK_LOCATION, place, 5, depth, 3);
	/* Below entry 2 again: the list of query 3 has location 5 in front. */
	s = stack_table__get(&t, 4);
	assert_struct(*s, parent, 2, place, 5);
	/* Below entry 3: the list of location 5 has query 3, so a location is near to the last. */
	assert_int_equal(TAKE(&t, &why, 5, 1, 1, 1, 2, 0, LOCATED(2)), 0);
	assert_struct(*stack_table__get(&t, 5), parent, 3, place, 7);
}

TEST_CASE(a_ninth_place_drops_out_of_a_list)
{
	_stack_table_ struct stack_table t = {0};
	const char *why;

	/* Location 5, and below it one after the other 6 to 13. */
	must(TAKE(&t, &why, 1, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0,
		  0, 0, 0, 0, 0, 0, LOCATED(5), LOCATED(1), LOCATED(1), LOCATED(1), LOCATED(1),
		  LOCATED(1), LOCATED(1), LOCATED(1), LOCATED(1)));
	assert_int_equal(stack_table__get(&t, 2)->place, 6);
	assert_int_equal(stack_table__get(&t, 9)->place, 13);
	/* Location 20, and the last in the list, which is 7 now and moves to the front. */
	assert_int_equal(TAKE(&t, &why, 10, 3, 3, 1, 1, 1, 9, 10, 11, 0, 9, 2, LOCATED(7)), 0);
	assert_int_equal(stack_table__get(&t, 10)->place, 20);
	assert_int_equal(stack_table__get(&t, 11)->place, 7);
	assert_int_equal(stack_table__get(&t, 12)->place, 7);
	/* 6 has its number, and pushes out 8. */
	assert_int_equal(TAKE(&t, &why, 13, 2, 2, 1, 1, 12, 13, 11, 9), 0);
	assert_int_equal(stack_table__get(&t, 13)->place, 6);
	assert_int_equal(stack_table__get(&t, 14)->place, 9);
}

TEST_CASE(malformed_payloads_are_refused)
{
	_stack_table_ struct stack_table t = {0};
	const char *why = NULL;

	assert_int_equal(TAKE(&t, &why, 0, 1, 1, 1, 1, 0, 2), -EBADMSG);
	assert_string_equal(why, "stacks are missing");
	assert_int_equal(TAKE(&t, &why, 1, 0, 0), -EBADMSG);
	assert_string_equal(why, "a list of stacks has a bad size");
	assert_int_equal(TAKE(&t, &why, 1, 0x81, 0x80, 4, 1), -EBADMSG);
	assert_string_equal(why, "a list of stacks has a bad size");
	assert_int_equal(TAKE(&t, &why, 1, 1, 2, 1, 1, 1, 1, 0, 2), -EBADMSG);
	assert_string_equal(why, "a list of stacks has a bad size");
	assert_int_equal(TAKE(&t, &why, 1, 2, 1, 2, 1, 0), -EBADMSG);
	assert_string_equal(why, "a list of stacks is too short");
	static const uint8_t malformed[][16] = {
		{1, 1, 1, 0, 1, 0, 2},		 /* an empty chain */
		{1, 1, 1, 2, 1, 0, 2},		 /* a chain that is too long */
		{1, 2, 1, 1, 1, 0, 0, 2, 2},	 /* chains that do not add up */
		{1, 1, 1, 1, 0, 0, 2},		 /* its own parent */
		{1, 1, 1, 1, 2, 0, 2},		 /* a parent below 0 */
		{1, 1, 1, 1, 1, 2, 2},		 /* an empty position in a list */
		{1, 1, 1, 1, 1, 10, 2},		 /* a place that does not occur before */
		{1, 1, 1, 1, 1, 0, 1},		 /* a location below 0 */
		{1, 1, 1, 1, 1, 1, 10 << 3 | 1}, /* a string that is not there */
		{1, 1, 1, 1, 1, 1, 1 << 3},	 /* a location as another place */
		{1, 1, 1, 1, 1, 1, 1 << 3 | 6},	 /* an unknown query with a name */
		{1, 1, 1, 1, 1, 1, 1 << 3 | 7},	 /* an unknown kind */
		{1, 1, 1, 1, 1, 0, 2, 2},	 /* a new place too many */
	};
	static const uint8_t sizes[] = {7, 7, 9, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8};

	for (size_t i = 0; i < N_OF(malformed); i++) {
		_stack_table_ struct stack_table fresh = {0};

		assert_int_equal(take(&fresh, malformed[i], sizes[i], &why), -EBADMSG);
		assert_string_equal(why, "a list of stacks is malformed");
		assert_int_equal(fresh.n + fresh.n_places, 0);
	}
	assert_int_equal(t.n, 0);
}

TEST_CASE(a_location_must_be_in_the_file)
{
	_stack_table_ struct stack_table t = {0};
	_byte_buffer_ struct byte_buffer b = {0};
	const char *why;

	for (int i = 0; i < 5; i++)
		byte_buffer__varint(&b, 1);
	byte_buffer__varint(&b, 0);
	byte_buffer__varint(&b, LOCATED(WALK_LOCATIONS));
	assert_int_equal(take(&t, b.data, b.size, &why), -EBADMSG);
	b.size -= 3;
	byte_buffer__varint(&b, LOCATED(WALK_LOCATIONS - 1));
	assert_int_equal(take(&t, b.data, b.size, &why), 0);
}

static void payload_of_walks(struct rng *rng, int n, struct byte_buffer *out)
{
	struct stack_writer w = {0};
	struct walk walk = {.rng = rng};

	for (int i = 0; i < n; i++) {
		uint32_t id = TRACE_NO_STACK;

		walk_step(&walk);
		for (uint32_t k = 0; k < walk.depth; k++) {
			struct trace_stack s = walk_entry(&walk, k);

			s.parent = id;
			assert_int_equal(stack_writer__add(&w, &s, &limits, &id), 0);
		}
	}
	assert_int_equal(stack_writer__payload(&w, out), 0);
	stack_writer__destroy(&w);
}

TEST_CASE(every_cut_is_noticed)
{
	struct rng rng = rng_new();
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;

	payload_of_walks(&rng, 50, &bytes);
	for (size_t size = 0; size < bytes.size; size++) {
		_stack_table_ struct stack_table t = {0};

		assert_int_equal(take(&t, bytes.data, size, &why), -EBADMSG);
		assert_int_equal(t.n, 0);
	}
}

/* Random damage may decode or be refused, but what is decoded is a tree. */
TEST_CASE(damage_is_survived)
{
	struct rng rng = rng_new();
	_byte_buffer_ struct byte_buffer bytes = {0};
	const char *why;

	payload_of_walks(&rng, 50, &bytes);
	for (int i = 0; i < 5000; i++) {
		_stack_table_ struct stack_table t = {0};
		size_t at = rng_below(&rng, bytes.size);
		uint8_t old = bytes.data[at];
		int err;

		bytes.data[at] = rng_u64(&rng);
		err = take(&t, bytes.data, bytes.size, &why);
		assert_true(err == 0 || err == -EBADMSG);
		for (uint32_t id = 1; id <= t.n; id++) {
			const struct trace_stack *s = stack_table__get(&t, id);

			assert_true(s->parent < id);
			assert_true(stack_limits__allow(&limits, s->kind, s->place));
		}
		bytes.data[at] = old;
	}
}

TEST_CASE(entries_count_for_the_expansion)
{
	struct rng rng = rng_new();
	_byte_buffer_ struct byte_buffer bytes = {0};
	struct expansion expansion = {0};
	_stack_table_ struct stack_table t = {.expansion = &expansion};
	const char *why;

	payload_of_walks(&rng, 100, &bytes);
	expansion.made = QPT_EXPANSION_FREE - 100;
	assert_int_equal(take(&t, bytes.data, bytes.size, &why), -E2BIG);
	expansion = (struct expansion){0};
	assert_int_equal(take(&t, bytes.data, bytes.size, &why), 0);
	assert_int_equal(expansion.made, QPT_EXPANSION_STACK * t.n);
}

/* ---- Stack writer ---------------------------------------------------------------------------- */

#define _stack_writer_ __cleanup(stack_writer__destroy)

static const struct stack_limits stack_writer_limits = {.strings = 10, .locations = WALK_LOCATIONS};

static uint32_t add(struct stack_writer *w, uint32_t parent, uint8_t kind, uint32_t place)
{
	const struct trace_stack s = {.parent = parent, .place = place, .kind = kind};
	uint32_t id = 0;

	assert_int_equal(stack_writer__add(w, &s, &stack_writer_limits, &id), 0);
	return id;
}

/* Add the stack of a walk; returns its innermost entry. */
static uint32_t add_walk(struct stack_writer *w, const struct walk *walk)
{
	uint32_t id = TRACE_NO_STACK;

	for (uint32_t i = 0; i < walk->depth; i++) {
		struct trace_stack s = walk_entry(walk, i);

		s.parent = id;
		assert_int_equal(stack_writer__add(w, &s, &stack_writer_limits, &id), 0);
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
	assert_int_equal(stack_table__take(t, &in, &stack_writer_limits, &why), 0);
}

static void assert_same(const struct stack_table *a, const struct stack_table *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t id = 1; id <= a->n; id++) {
		const struct trace_stack *x = stack_table__get(a, id), *y = stack_table__get(b, id);

		assert_struct(*x, parent, y->parent, place, y->place, kind, y->kind, depth,
			      y->depth);
	}
}

TEST_CASE(the_same_entry_has_the_same_number)
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

TEST_CASE(what_the_file_does_not_hold_is_refused)
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
		assert_int_equal(stack_writer__add(&w, &bad[i], &stack_writer_limits, &id),
				 -EINVAL);
	assert_int_equal(id, 77);
	assert_int_equal(w.table.n, 0);
}

TEST_CASE(stacks_have_a_limit_and_go_on_below_it)
{
	_stack_writer_ struct stack_writer w = {0};
	_stack_table_ struct stack_table t = {0};
	struct trace_stack s = {.place = 1};
	uint32_t id = 0;

	for (uint32_t i = 0; i < QPT_STACK_DEPTH_MAX; i++) {
		s.parent = id;
		assert_int_equal(stack_writer__add(&w, &s, &stack_writer_limits, &id), 0);
	}
	s.parent = id;
	s.place = 2;
	assert_int_equal(stack_writer__add(&w, &s, &stack_writer_limits, &id), -E2BIG);
	/* The refused entry has left no trace of its place. */
	assert_int_equal(add(&w, id - 1, TRACE_STACK_LOCATION, 3), id + 1);
	pass_on(&w, &t);
	assert_same(&w.table, &t);
}

TEST_CASE(walks_come_back_whatever_the_batches)
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
TEST_CASE(entries_are_small)
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
TEST_CASE(the_payload_is_as_specified)
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

TEST_MAIN(NULL, NULL)
