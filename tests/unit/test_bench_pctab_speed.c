// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Checks that look-ups are timed, not the values of the times. */
#include "test.h"
#include "../bench/pctab/speed.h"

#include "../fixtures/go_table.h"
#include "../fixtures/pctabs.h"

static struct pctab_survey *survey(const struct go_table *g)
{
	struct pctab_survey *s = NULL;
	struct gopclntab t;
	const char *why;

	assert_int_equal(gopclntab__init(&t, g->bytes.data, g->bytes.size, false, &why), 0);
	assert_int_equal(pctab_survey__new(&t, &s), 0);
	return s;
}

TEST_CASE(cases_can_be_gone_through_in_whole_turns)
{
	for (int i = 0; i < PCTAB_SPEED_CASES; i++)
		assert_int_equal(PCTAB_SPEED_LOOKUPS % pctab_speed_cases[i].samples, 0);
}

TEST_CASE(look_ups_are_timed)
{
	_go_table_ struct go_table g = {};
	const struct pctab_speed_case c = {.samples = 16, .by_code = true};
	_pctab_survey_ struct pctab_survey *s = NULL;
	struct pctab_runs tables[2] = {};
	struct pctab_speed speed = {};

	pctabs_add(&tables[0], 10, 7);
	pctabs_add(&tables[1], 400, 8);
	g = go_table_of(tables, 2);
	s = survey(&g);
	assert_int_equal(pctab_speed__measure(s, &c, &speed), 0);
	assert_true(speed.varint_best > 0 && speed.varint_best <= speed.varint);
	assert_true(speed.linear_best > 0 && speed.linear_best <= speed.linear);
	assert_true(speed.ratio > 0);
	pctab_runs__destroy(&tables[0]);
	pctab_runs__destroy(&tables[1]);
}

TEST_CASE(without_tables_there_is_nothing_to_time)
{
	_go_table_ struct go_table g = go_table_of(NULL, 0);
	_pctab_survey_ struct pctab_survey *s = survey(&g);
	struct pctab_speed speed = {};

	assert_int_equal(pctab_speed__measure(s, &pctab_speed_cases[0], &speed), -ENODATA);
}

TEST_MAIN(NULL, NULL)
