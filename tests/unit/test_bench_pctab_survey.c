// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../bench/pctab/survey.h"

#include "../fixtures/go_table.h"
#include "../fixtures/output.h"
#include "../fixtures/pctabs.h"

static struct gopclntab read_table(const struct go_table *g)
{
	struct gopclntab t;
	const char *why;

	assert_int_equal(gopclntab__init(&t, g->bytes.data, g->bytes.size, g->big_endian, &why), 0);
	return t;
}

TEST_CASE(everything_is_counted)
{
	_go_table_ struct go_table g = {};
	_pctab_survey_ struct pctab_survey *s = NULL;
	struct pctab_runs tables[4] = {};
	struct gopclntab t;

	/* Tables 0 and 1 differ in length; 1 and 2 are equal; 2 of the 4 chunks of 3 are equal. */
	pctabs_add(&tables[0], 10, 7);
	pctabs_add(&tables[1], 20, 7);
	pctabs_add(&tables[2], 20, 7);
	for (uint32_t i = 0; i < 4; i++)
		pctabs_add(&tables[3], 256 * i + (i < 3 ? 256 : 2), i % 2 ? 300 : 7);
	pctabs_add(&tables[3], 256 * 3 + 9, -1);
	g = go_table_of(tables, 4);
	t = read_table(&g);
	assert_int_equal(pctab_survey__new(&t, &s), 0);
	assert_int_equal(s->functions, 4);
	assert_int_equal(s->references, 4 * GO_TABLE_REFERENCES);
	assert_int_equal(s->n_tables, 4);
	assert_int_equal(s->n_linear, 2);
	assert_int_equal(s->pcs, 10 + 20 + 20 + 777);
	assert_int_equal(s->varint_bytes, 3 + 3 + 3 + (3 + 4 + 4 + 3 + 3 + 1));
	assert_int_equal(pctab_survey__linear_bytes(s), 3 + (3 + 3 + 4 + 7));
	assert_int_equal(s->chunks, 3 + 4);
	assert_int_equal(s->constant_chunks, 3 + 3);
	assert_int_equal(s->shared_chunks, 1);
	assert_int_equal(s->index_widths[0], 3);
	assert_int_equal(s->index_widths[1], 1);
	assert_int_equal(s->most_pcs, 1);
	for (int i = 0; i < 4; i++)
		pctab_runs__destroy(&tables[i]);
}

TEST_CASE(any_tables_are_surveyed)
{
	struct pctab_runs tables[50] = {};
	struct rng rng = rng_new();

	for (unsigned int shift = 0; shift <= 2; shift++) {
		_go_table_ struct go_table g = {.magic = GO_TABLE_1_18,
						.big_endian = shift == 1,
						.pointer_size = 8,
						.quantum_shift = shift};
		_pctab_survey_ struct pctab_survey *s = NULL;
		uint64_t pcs = 0;
		struct gopclntab t;

		for (int i = 0; i < 50; i++) {
			uint32_t quanta = 1 + (uint32_t)rng_below(&rng, 1200);

			pctabs_random(&rng, &tables[i], quanta, 60, shift);
			pcs += quanta;
		}
		go_table__build(&g, tables, 50);
		t = read_table(&g);
		assert_int_equal(pctab_survey__new(&t, &s), 0);
		assert_int_equal(s->n_tables, 50);
		assert_int_equal(s->pcs, pcs);
	}
	for (int i = 0; i < 50; i++)
		pctab_runs__destroy(&tables[i]);
}

/* Store a value in the table. The survey must fail and report `says`. */
static void assert_reported(size_t at, uint32_t value, unsigned int size, bool in_pctab,
			    const char *says)
{
	_go_table_ struct go_table g = {};
	_pctab_survey_ struct pctab_survey *s = NULL;
	_pctab_runs_ struct pctab_runs r = {};
	struct gopclntab t;
	struct output o;

	pctabs_add(&r, 200, 7);
	g = go_table_of(&r, 1);
	go_table__store(&g, at + (in_pctab ? g.pctab : g.records), value, size);
	t = read_table(&g);
	output_begin(&o);
	assert_int_equal(pctab_survey__new(&t, &s), -EBADMSG);
	output_end(&o);
	assert_null(s);
	assert_contains(o.text[1], says);
	output_free(&o);
}

TEST_CASE(damage_is_reported)
{
	assert_reported(0, 1, 4, false, "function 0 of the executable is damaged");
	assert_reported(16, 0xffff, 4, false, "table 0 of function 0 (f0) is damaged");
	/* An empty run, then a run longer than the function. */
	assert_reported(2, 0, 1, true, "table 0 of function 0 (f0) is damaged");
	assert_reported(2, 0xc9, 1, true, "table 0 of function 0 (f0) is damaged");
}

TEST_CASE(no_functions_are_no_tables)
{
	_go_table_ struct go_table g = {.magic = GO_TABLE_1_20, .pointer_size = 4};
	_pctab_survey_ struct pctab_survey *s = NULL;
	struct gopclntab t;

	go_table__build(&g, NULL, 0);
	t = read_table(&g);
	assert_int_equal(pctab_survey__new(&t, &s), 0);
	assert_int_equal(s->n_tables, 0);
	assert_int_equal(pctab_survey__linear_bytes(s), 0);
}

TEST_MAIN(NULL, NULL)
