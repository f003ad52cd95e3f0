// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "export/memory_growth.h"

#include <errno.h>

struct seen {
	struct memory_fault last;
	uint32_t n;
	uint64_t total;
};

static int see(void *ctx, const struct memory_fault *sum)
{
	struct seen *s = ctx;

	if (s->n && s->last.process == sum->process) {
		assert_true(sum->at_ns > s->last.at_ns);
		assert_true(sum->bytes > s->last.bytes);
	} else {
		assert_true(!s->n || sum->process > s->last.process);
		s->total += s->last.bytes;
	}
	s->last = *sum;
	s->n++;
	return 0;
}

static void add(struct memory_growth *g, uint32_t process, uint64_t at_ns, uint64_t bytes)
{
	assert_int_equal(memory_growth__add(g, &(struct memory_fault){at_ns, bytes, process}), 0);
}

static void faults_in_any_order_add_up(void **state)
{
	struct memory_growth g = {};
	struct seen s = {};

	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_int_equal(s.n, 0);
	add(&g, 7, 300, 10);
	add(&g, 2, 900, 20);
	add(&g, 7, 100, 30);
	add(&g, 7, 100, 40); /* at one time: one point */
	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.last.at_ns, 300);
	assert_int_equal(s.last.bytes, 80);
	assert_int_equal(s.total, 20);
	memory_growth__destroy(&g);
}

static void many_faults_share_points(void **state)
{
	const uint32_t n = 3 * MEMORY_GROWTH_POINTS + 5;
	struct memory_growth g = {};
	struct seen s = {};

	for (uint32_t i = 0; i < n; i++)
		add(&g, 0, i, 1);
	assert_int_equal(memory_growth__each(&g, see, &s), 0);
	assert_in_range(s.n, MEMORY_GROWTH_POINTS / 2, MEMORY_GROWTH_POINTS);
	assert_int_equal(s.last.at_ns, n - 1);
	assert_int_equal(s.last.bytes, n);
	memory_growth__destroy(&g);
}

static int refuse(void *ctx, const struct memory_fault *sum)
{
	return -EPIPE;
}

static void an_error_ends_it(void **state)
{
	struct memory_growth g = {};

	add(&g, 0, 1, 1);
	assert_int_equal(memory_growth__each(&g, refuse, NULL), -EPIPE);
	memory_growth__destroy(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_in_any_order_add_up),
		cmocka_unit_test(many_faults_share_points),
		cmocka_unit_test(an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
