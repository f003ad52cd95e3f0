// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "pctab/pctab.h"

#include "test.h"

static void runs_of_the_same_value_become_one(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};

	assert_int_equal(pctab_runs__length(&r), 0);
	assert_int_equal(pctab_runs__add(&r, 3, 7), 0);
	assert_int_equal(pctab_runs__add(&r, 5, 7), 0);
	assert_int_equal(pctab_runs__add(&r, 6, -7), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.runs[0].end, 5);
	assert_int_equal(pctab_runs__length(&r), 6);
}

static void ends_only_rise(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};

	assert_int_equal(pctab_runs__add(&r, 0, 1), -EINVAL);
	assert_int_equal(pctab_runs__add(&r, 4, 1), 0);
	assert_int_equal(pctab_runs__add(&r, 4, 2), -EINVAL);
	assert_int_equal(pctab_runs__add(&r, 3, 1), -EINVAL);
	assert_int_equal(r.n, 1);
	pctab_runs__clear(&r);
	assert_int_equal(pctab_runs__add(&r, 1, 1), 0);
}

static void invalid_runs_are_refused(void **state)
{
	struct pctab_run runs[] = {{4, 1}, {8, 2}};
	struct pctab_runs r = {.runs = runs, .n = 2};

	assert_int_equal(pctab_runs__check(&r, 0), 0);
	assert_int_equal(pctab_runs__check(&r, 2), 0);
	assert_int_equal(pctab_runs__check(&r, 3), -EINVAL);
	assert_int_equal(pctab_runs__check(&r, PCTAB_QUANTUM_SHIFT_MAX + 1), -EINVAL);
	runs[1].value = 1;
	assert_int_equal(pctab_runs__check(&r, 0), -EINVAL);
	runs[1] = (struct pctab_run){4, 2};
	assert_int_equal(pctab_runs__check(&r, 0), -EINVAL);
	r.n = 0;
	assert_int_equal(pctab_runs__check(&r, 0), -EINVAL);
}

static void too_much_is_refused(void **state)
{
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_buffer__append(&b, "x", 1), 0);
	assert_int_equal(pctab_buffer__reserve(&b, SIZE_MAX), -ENOMEM);
	assert_int_equal(pctab_buffer__reserve(&b, SIZE_MAX - 1), -ENOMEM);
	assert_int_equal(b.size, 1);
	assert_int_equal(b.data[0], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_the_same_value_become_one),
		cmocka_unit_test(ends_only_rise),
		cmocka_unit_test(invalid_runs_are_refused),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
