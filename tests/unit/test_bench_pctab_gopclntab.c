// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../bench/pctab/gopclntab.h"

#include "../fixtures/go_table.h"
#include "../fixtures/pctabs.h"

#define N_FUNCTIONS 5

/* Each function has other values. */
static void make_tables(struct pctab_runs *tables, unsigned int shift)
{
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		pctabs_add(&tables[i], (1 + i) << shift, (int32_t)i);
		pctabs_add(&tables[i], 64 << shift, -5);
	}
}

static void free_tables(struct pctab_runs *tables)
{
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		pctab_runs__destroy(&tables[i]);
}

static struct go_table make(uint32_t magic, bool big_endian, uint8_t pointer_size,
			    unsigned int shift)
{
	struct go_table g = {.magic = magic,
			     .big_endian = big_endian,
			     .pointer_size = pointer_size,
			     .quantum_shift = shift};
	struct pctab_runs tables[N_FUNCTIONS] = {};

	make_tables(tables, shift);
	go_table__build(&g, tables, N_FUNCTIONS);
	free_tables(tables);
	return g;
}

/* Function `i` must have the table of make_tables(). */
static void assert_function(const struct gopclntab *t, uint32_t i)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct gopclntab_function f;
	char name[16];
	size_t size;
	const uint8_t *bytes;

	snprintf(name, sizeof(name), "f%u", i);
	assert_int_equal(gopclntab__function(t, i, &f), 0);
	assert_int_equal(f.entry, (64 * i) << t->quantum_shift);
	assert_int_equal(f.room, 64 << t->quantum_shift);
	assert_string_equal(f.name, name);
	assert_int_equal(f.n_tables, GOPCLNTAB_DATA + 2);
	assert_int_equal(f.tables[GOPCLNTAB_FILE], 0);
	assert_int_equal(f.tables[GOPCLNTAB_DATA], 0);
	assert_int_equal(f.tables[GOPCLNTAB_LINE], f.tables[GOPCLNTAB_SP]);
	assert_int_equal(f.tables[GOPCLNTAB_DATA + 1], f.tables[GOPCLNTAB_SP]);
	bytes = gopclntab__table(t, f.tables[GOPCLNTAB_SP], &size);
	assert_non_null(bytes);
	assert_int_equal(pctab_varint__decode(bytes, size, t->quantum_shift, &r, NULL), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(pctab_runs__length(&r), 64 << t->quantum_shift);
	assert_int_equal(r.runs[0].value, i);
}

TEST_CASE(tables_of_every_kind_are_read)
{
	static const uint32_t magics[] = {GO_TABLE_1_18, GO_TABLE_1_20};

	for (unsigned int kind = 0; kind < 24; kind++) {
		_go_table_ struct go_table g =
			make(magics[kind % 2], kind / 2 % 2, kind / 4 % 2 ? 4 : 8, kind / 8);
		const char *why = "";
		struct gopclntab t;

		assert_int_equal(
			gopclntab__init(&t, g.bytes.data, g.bytes.size, g.big_endian, &why), 0);
		assert_null(why);
		assert_int_equal(t.n_functions, N_FUNCTIONS);
		assert_int_equal(t.quantum_shift, kind / 8);
		for (uint32_t i = 0; i < N_FUNCTIONS; i++)
			assert_function(&t, i);
	}
}

TEST_CASE(offsets_that_lead_nowhere_have_no_table)
{
	_go_table_ struct go_table g = make(GO_TABLE_1_20, false, 8, 0);
	struct gopclntab t;
	const char *why;
	size_t size = 1;

	assert_int_equal(gopclntab__init(&t, g.bytes.data, g.bytes.size, false, &why), 0);
	assert_null(gopclntab__table(&t, 0, &size));
	assert_int_equal(size, 0);
	assert_null(gopclntab__table(&t, (uint32_t)(g.functab - g.pctab), &size));
	assert_null(gopclntab__table(&t, UINT32_MAX, &size));
	assert_non_null(gopclntab__table(&t, (uint32_t)(g.functab - g.pctab) - 1, &size));
	assert_int_equal(size, 1);
}

/* Store a value in a table. Returns the reason why init refuses it, or "". */
static const char *why_not(size_t at, uint64_t value, unsigned int size)
{
	_go_table_ struct go_table g = make(GO_TABLE_1_20, false, 8, 0);
	struct gopclntab t;
	const char *why = NULL;
	int err;

	go_table__store(&g, at, value, size);
	err = gopclntab__init(&t, g.bytes.data, g.bytes.size, false, &why);
	assert_int_equal(err, why ? -ENOEXEC : 0);
	return why ?: "";
}

TEST_CASE(headers_that_cannot_be_read_are_reported)
{
	assert_string_equal(why_not(5, 0, 1), "");
	assert_non_null(strstr(why_not(0, 0xfffffffb, 4), "before 1.18"));
	assert_non_null(strstr(why_not(0, 0xfffffffa, 4), "before 1.18"));
	assert_non_null(strstr(why_not(0, 0xfffffff2, 4), "unknown version"));
	assert_non_null(strstr(why_not(5, 1, 1), "damaged"));
	assert_non_null(strstr(why_not(6, 3, 1), "damaged"));
	assert_non_null(strstr(why_not(7, 2, 1), "damaged"));
	/* The number of functions, then the offsets of the names, the tables and the functab. */
	assert_non_null(strstr(why_not(8, 1000, 8), "cut short"));
	assert_non_null(strstr(why_not(8, UINT64_MAX, 8), "cut short"));
	assert_non_null(strstr(why_not(8, UINT64_C(1) << 61, 8), "cut short"));
	assert_non_null(strstr(why_not(32, UINT64_MAX, 8), "outside"));
	assert_non_null(strstr(why_not(56, 100000, 8), "outside"));
	assert_non_null(strstr(why_not(64, 100000, 8), "outside"));
}

TEST_CASE(functions_out_of_order_are_reported)
{
	_go_table_ struct go_table g = make(GO_TABLE_1_20, false, 8, 0);
	struct gopclntab_function f;
	struct gopclntab t;
	const char *why;

	assert_int_equal(gopclntab__init(&t, g.bytes.data, g.bytes.size, false, &why), 0);
	assert_int_equal(t.text_size, 64 * N_FUNCTIONS);
	go_table__store(&g, g.functab + 16, 63, 4);
	assert_int_equal(gopclntab__function(&t, 0, &f), 0);
	assert_int_equal(gopclntab__function(&t, 1, &f), -EBADMSG);
	go_table__store(&g, g.functab + 16, 64 * N_FUNCTIONS + 1, 4);
	assert_int_equal(gopclntab__function(&t, 1, &f), -EBADMSG);
}

/* Store a value in the record of function 1. Returns the error of reading the function. */
static int read_damaged(size_t at, uint32_t value, struct gopclntab_function *f)
{
	_go_table_ struct go_table g = make(GO_TABLE_1_18, false, 8, 0);
	struct gopclntab t;
	const char *why;
	int err;

	go_table__store(&g, g.records + g.record_size + at, value, 4);
	assert_int_equal(gopclntab__init(&t, g.bytes.data, g.bytes.size, false, &why), 0);
	err = gopclntab__function(&t, 1, f);
	if (!err)
		f->name = *f->name ? "some" : "";
	assert_int_equal(gopclntab__function(&t, 2, &(struct gopclntab_function){}), 0);
	return err;
}

TEST_CASE(damaged_functions_are_reported)
{
	struct gopclntab_function f;

	assert_int_equal(read_damaged(8, 0, &f), 0);
	assert_string_equal(f.name, "some");
	/* The entry, then the number of tables. */
	assert_int_equal(read_damaged(0, 65, &f), -EBADMSG);
	assert_int_equal(read_damaged(28, GOPCLNTAB_DATA_MAX + 1, &f), -EBADMSG);
	assert_int_equal(read_damaged(28, UINT32_MAX, &f), -EBADMSG);
	/* A name outside the table leaves the function readable. */
	assert_int_equal(read_damaged(4, UINT32_MAX, &f), 0);
	assert_string_equal(f.name, "");
}

/* Read all tables from a copy of exactly `size` bytes, so that an overrun is found. */
static void read_all(const uint8_t *bytes, size_t size, bool big_endian)
{
	_free_ uint8_t *exact = pctabs_copy(bytes, size);
	_pctab_runs_ struct pctab_runs r = {};
	struct gopclntab_function f;
	struct gopclntab t;
	const char *why;

	if (gopclntab__init(&t, exact, size, big_endian, &why))
		return;
	for (uint32_t i = 0; i < t.n_functions; i++) {
		if (gopclntab__function(&t, i, &f))
			continue;
		for (uint32_t k = 0; k < f.n_tables; k++) {
			size_t room;
			const uint8_t *table = gopclntab__table(&t, f.tables[k], &room);

			if (table)
				pctab_varint__decode(table, room, t.quantum_shift, &r, NULL);
		}
	}
}

TEST_CASE(cut_and_flipped_tables_do_no_harm)
{
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		_go_table_ struct go_table g = make(GO_TABLE_1_20, big_endian, 8, 0);

		for (size_t size = 0; size <= g.bytes.size; size++)
			read_all(g.bytes.data, size, big_endian);
		for (size_t bit = 0; bit < 8 * g.bytes.size; bit++) {
			g.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			read_all(g.bytes.data, g.bytes.size, big_endian);
			g.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

TEST_MAIN(NULL, NULL)
