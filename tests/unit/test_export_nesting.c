// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/nesting.h"

#include "test.h"
#include "../fixtures/spans.h"

struct interval {
	uint64_t start;
	uint64_t end;
};

/* The rule of measureme, which reads backwards: an interval lies inside its parent or beside it. */
static void assert_nested(const struct interval *v, uint32_t n)
{
	struct interval *stack = calloc(n + 1, sizeof(*stack));
	uint32_t depth = 0;

	for (uint32_t i = n; i--;) {
		assert_true(v[i].start <= v[i].end);
		assert_true(i + 1 == n || v[i].end <= v[i + 1].end);
		for (; depth; depth--) {
			const struct interval *top = &stack[depth - 1];

			if (top->start <= v[i].start && v[i].end <= top->end)
				break;
			assert_true(v[i].end <= top->start);
		}
		stack[depth++] = v[i];
	}
	free(stack);
}

static void nested_intervals_are_left_unchanged(void **state)
{
	struct rng rng = rng_new();
	struct spans *s = spans_new(&rng, 15000, 1, 10);
	__cleanup(nesting__destroy) struct nesting n = {0};

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t start = s->at[i].start_ns, end = s->at[i].end_ns;

		assert_int_equal(nesting__fit(&n, s->at[i].tid, s->at[i].depth, &start, &end), 0);
		assert_true(start == s->at[i].start_ns && end == s->at[i].end_ns);
	}
	free(s);
}

static void anything_is_made_to_nest(void **state)
{
	struct rng rng = rng_new();
	static struct interval out[3][4000];
	uint32_t used[3] = {0}, changed = 0;
	__cleanup(nesting__destroy) struct nesting n = {0};

	for (int i = 0; i < 10000; i++) {
		uint32_t thread = rng_below(&rng, 3);
		struct interval *v = &out[thread][used[thread]];
		int adjusted;

		if (used[thread] == 4000)
			continue;
		v->end = i * 10 + rng_below(&rng, 300);
		v->start = v->end - rng_below(&rng, v->end + 1) % 500;
		adjusted = nesting__fit(&n, 7 + thread, rng_below(&rng, 3), &v->start, &v->end);
		assert_true(adjusted >= 0);
		changed += adjusted;
		used[thread]++;
	}
	assert_true(changed > 0);
	for (int i = 0; i < 3; i++)
		assert_nested(out[i], used[i]);
}

static void fit(struct nesting *n, uint16_t depth, uint64_t start, uint64_t end,
		uint64_t want_start, uint64_t want_end)
{
	bool adjusted = start != want_start || end != want_end;

	assert_int_equal(nesting__fit(n, 1, depth, &start, &end), adjusted);
	assert_int_equal(start, want_start);
	assert_int_equal(end, want_end);
}

static void a_lost_parent_changes_nothing(void **state)
{
	__cleanup(nesting__destroy) struct nesting n = {0};

	fit(&n, 2, 1, 2, 1, 2);
	fit(&n, 2, 3, 4, 3, 4);
	/* The parent of 1..2 was lost. */
	fit(&n, 1, 3, 5, 3, 5);
	fit(&n, 0, 0, 6, 0, 6);
}

static void an_overlap_is_cut_and_an_end_moved(void **state)
{
	__cleanup(nesting__destroy) struct nesting n = {0};

	fit(&n, 1, 10, 20, 10, 20);
	fit(&n, 1, 15, 30, 20, 30);
	fit(&n, 1, 25, 26, 30, 30);
	fit(&n, 0, 0, 5, 0, 30);
}

/* A parent encloses all its children, even if they are more than the code stores separately. */
static void a_parent_of_very_many_is_left_alone(void **state)
{
	__cleanup(nesting__destroy) struct nesting n = {0};
	uint64_t at = 100;

	for (int i = 0; i < 300000; i++, at += 10)
		fit(&n, 1, at, at + 5, at, at + 5);
	fit(&n, 0, 50, at, 50, at);
	fit(&n, 0, at, at + 1, at, at + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_intervals_are_left_unchanged),
		cmocka_unit_test(anything_is_made_to_nest),
		cmocka_unit_test(a_lost_parent_changes_nothing),
		cmocka_unit_test(an_overlap_is_cut_and_an_end_moved),
		cmocka_unit_test(a_parent_of_very_many_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
