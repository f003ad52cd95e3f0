// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "export/parallelism.h"

#include <math.h>
#include "../fixtures/random.h"
#define MS 1000000u

/* The integral over all reported changes, and the last one. */
struct reported {
	uint64_t at_ns;
	double value;
	double busy_ns;
	unsigned int n;
};

static int add_change(void *ctx, uint64_t at_ns, double mean)
{
	struct reported *t = ctx;

	assert_true(!t->n || at_ns > t->at_ns);
	t->busy_ns += t->value * (double)(at_ns - t->at_ns);
	*t = (struct reported){at_ns, mean, t->busy_ns, t->n + 1};
	return 0;
}

static struct parallelism p;

static void overlaps_add_up(void **state)
{
	struct reported t = {};

	parallelism__init(&p, 1000 * MS);
	parallelism__add(&p, 1000 * MS, 1004 * MS);
	parallelism__add(&p, 1001 * MS, 1003 * MS);
	parallelism__add(&p, 1001 * MS + MS / 2, 1002 * MS);
	/* 1 | 2.5 | 2 | 1 | 0 */
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_int_equal(t.n, 5);
	assert_int_equal(t.at_ns, 1004 * MS);
	assert_true(t.value == 0);
	assert_true(fabs(t.busy_ns - 6.5 * MS) < 1);
}

static void nothing_is_nothing(void **state)
{
	struct reported t = {};

	parallelism__init(&p, 5);
	parallelism__add(&p, 1, 4);
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_int_equal(t.n, 0);
}

/* No time is lost when the buckets are widened. */
static void time_is_kept(void **state)
{
	struct rng rng = rng_new();
	struct reported t = {};
	double busy = 0;

	parallelism__init(&p, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t start = rng_below(&rng, 1 + (uint64_t)i * MS),
			 length = rng_any_size(&rng) >> 20;

		parallelism__add(&p, start, start + length);
		busy += (double)length;
	}
	assert_int_equal(parallelism__each(&p, add_change, &t), 0);
	assert_true(t.n <= PARALLELISM_BUCKETS + 1);
	assert_true(fabs(t.busy_ns / busy - 1) < 1e-6);
	parallelism__add(&p, 0, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlaps_add_up),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(time_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
