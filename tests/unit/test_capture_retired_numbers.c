// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/retired_numbers.h"

#include "test.h"

#define SECOND UINT64_C(1000000000)

struct world {
	pid_t runs; /* the only running process */
	unsigned int n_released;
	uint8_t released;
};

static bool follows(void *ctx, pid_t pid)
{
	struct world *w = ctx;

	return pid == w->runs;
}

static void release(void *ctx, uint8_t lib)
{
	struct world *w = ctx;

	w->n_released++;
	w->released = lib;
}

static const struct retired_numbers_ops ops = {follows, release};

static pid_t *pids(pid_t a, pid_t b)
{
	pid_t *p = calloc(2, sizeof(*p));

	p[0] = a;
	p[1] = b;
	return p;
}

TEST_CASE(a_number_is_free_when_its_processes_are_gone)
{
	_retired_numbers_ struct retired_numbers *o = NULL;
	struct world w = {.runs = 11};

	assert_int_equal(retired_numbers__new(&o), 0);
	assert_int_equal(retired_numbers__add(o, 20, 1000, 0, pids(10, 11), 2), 0);
	for (uint64_t s = 1; s < 10; s++)
		retired_numbers__settle(o, s * SECOND, &ops, &w);
	assert_int_equal(w.n_released, 0);
	assert_int_equal(retired_numbers__of(o, 1000), 1);
	assert_int_equal(retired_numbers__of(o, 1001), 0);
	w.runs = 0;
	/* Records may be left in the ring buffer, which is drained before the next call. */
	retired_numbers__settle(o, 10 * SECOND, &ops, &w);
	assert_int_equal(w.n_released, 0);
	retired_numbers__settle(o, 10 * SECOND, &ops, &w);
	assert_int_equal(w.n_released, 1);
	assert_int_equal(w.released, 20);
	assert_int_equal(retired_numbers__n(o), 0);
}

TEST_CASE(an_unused_number_is_free_a_while_later)
{
	_retired_numbers_ struct retired_numbers *o = NULL;
	struct world w = {0};

	assert_int_equal(retired_numbers__new(&o), 0);
	assert_int_equal(retired_numbers__add(o, 20, 1000, SECOND, NULL, 0), 0);
	assert_int_equal(retired_numbers__add(o, 21, 1000, SECOND * 2, NULL, 0), 0);
	for (int i = 0; i < 5; i++)
		retired_numbers__settle(o, SECOND * 3 / 2, &ops, &w);
	assert_int_equal(w.n_released, 0);
	retired_numbers__settle(o, SECOND * 2, &ops, &w);
	retired_numbers__settle(o, SECOND * 2, &ops, &w);
	assert_int_equal(w.n_released, 1);
	assert_int_equal(w.released, 20);
	assert_int_equal(retired_numbers__n(o), 1);
	retired_numbers__free(NULL);
}

TEST_MAIN(NULL, NULL)
