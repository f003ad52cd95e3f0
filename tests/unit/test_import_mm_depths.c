// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_depths.h"

#include "test.h"
#include "../fixtures/mm_bytes.h"
#include "../fixtures/spans.h"

static void find(struct mm_depths *d, struct mm_bytes *m)
{
	_mm_reader_ struct mm_reader *r = NULL;
	const char *why;
	char path[40];
	_close_ int fd = mm_bytes__open(m, 5000, path);

	assert_int_equal(mm_reader__open(path, &r, &why), 0);
	assert_int_equal(mm_depths__find(d, r), 0);
	mm_bytes__end(m);
}

static void depths_are_those_of_the_nesting(void **state)
{
	struct rng rng = rng_new();
	struct spans *s = spans_new(&rng, 10000, 1, 5);
	__cleanup(mm_depths__destroy) struct mm_depths d;
	struct mm_bytes m;
	uint64_t base = s->at[0].start_ns - 1000000, last = 0;

	mm_bytes__begin(&m);
	for (uint32_t i = 0; i < s->n; i++) {
		last = s->at[i].end_ns - base > last ? s->at[i].end_ns - base : last;
		mm_bytes__event(&m, 1, 1, s->at[i].tid, s->at[i].start_ns - base,
				s->at[i].end_ns - base);
	}
	find(&d, &m);
	for (uint32_t i = 0; i < s->n; i++)
		assert_int_equal(d.depth[i], s->at[i].depth);
	assert_int_equal(d.backwards + d.out_of_order + d.overlapping, 0);
	assert_int_equal(d.last_end_ns, last);
	free(s);
}

static void intervals_that_cannot_be_placed_are_counted(void **state)
{
	static const struct {
		uint64_t start, end;
		uint16_t depth;
	} events[] = {
		{1, MM_INSTANT, MM_NO_DEPTH},
		{0, 3, 0},
		{2, 5, 0},	      /* overlaps the one before */
		{9, 8, MM_NO_DEPTH},  /* backwards */
		{6, 30, MM_NO_DEPTH}, /* ends after the next one */
		{6, 7, 1},
		{6, 10, 0},
		{7, MM_INTEGER, MM_NO_DEPTH},
	};
	__cleanup(mm_depths__destroy) struct mm_depths d;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (size_t i = 0; i < 8; i++)
		mm_bytes__event(&m, 1, 1, 1, events[i].start, events[i].end);
	find(&d, &m);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(d.depth[i], events[i].depth);
	assert_int_equal(d.backwards, 1);
	assert_int_equal(d.out_of_order, 1);
	assert_int_equal(d.overlapping, 1);
	assert_int_equal(d.last_end_ns, 10);
}

static void depths_have_a_limit(void **state)
{
	__cleanup(mm_depths__destroy) struct mm_depths d;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (uint32_t i = 0; i < 70000; i++)
		mm_bytes__event(&m, 1, 1, 1, 70000 - i, 80000 + i);
	find(&d, &m);
	assert_int_equal(d.depth[69999], 0);
	assert_int_equal(d.depth[69999 - 65000], 65000);
	assert_int_equal(d.depth[0], MM_NO_DEPTH - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depths_are_those_of_the_nesting),
		cmocka_unit_test(intervals_that_cannot_be_placed_are_counted),
		cmocka_unit_test(depths_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
