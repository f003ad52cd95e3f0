// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/job.h"

#include <endian.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/cache_home.h"
#include "../fixtures/unwind_rows.h"
#include "unwind/codec.h"

/* The stored and the loaded table are of this file. */
static struct library_file *file;
static char path[] = "/tmp/qprof-test-XXXXXX";

static int setup(void **state)
{
	int fd;

	strcpy(path, "/tmp/qprof-test-XXXXXX");
	fd = mkstemp(path);
	if (cache_home_make(state) || fd < 0)
		return -1;
	close(fd);
	library_file_settled_ns = 0;
	return library_file__try(path, &file);
}

static int teardown(void **state)
{
	library_file__free(file);
	unlink(path);
	return cache_home_remove(state);
}

/* Store a table, and behind it `n` bytes as functions. */
static void store_with(const struct unwind_table *t, const uint8_t *functions, size_t n)
{
	_free_ uint8_t *bytes = NULL, *both = NULL;
	uint64_t sizes[2] = {0};
	size_t len;

	assert_int_equal(unwind_encode(t, &bytes, &len), 0);
	both = malloc(UNWIND_LOAD_HEADER + len + n);
	assert_non_null(both);
	sizes[0] = htole64(len);
	memcpy(both, sizes, sizeof(sizes));
	memcpy(both + UNWIND_LOAD_HEADER, bytes, len);
	if (n)
		memcpy(both + UNWIND_LOAD_HEADER + len, functions, n);
	unwind_load__store(file, both, UNWIND_LOAD_HEADER + len + n);
}

static void store(const struct unwind_table *t)
{
	store_with(t, NULL, 0);
}

static struct unwind_table *sample(uint32_t rule)
{
	_unwind_rows_ struct unwind_rows r = {};

	rows_add(&r, 0, rule);
	rows_add(&r, 1000, 0);
	return rows_table(&r);
}

static void a_stored_table_is_loaded(void **state)
{
	_unwind_table_ struct unwind_table *t = sample(1), *back = NULL;

	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	store(t);
	assert_int_equal(cache_home_count("code-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	for (uint64_t addr = ROWS_START; addr < ROWS_START + 1100; addr++)
		assert_rule(unwind_table__rule(back, addr), unwind_table__rule(t, addr));
}

static void a_file_has_one_table(void **state)
{
	_unwind_table_ struct unwind_table *t = sample(1), *other = sample(5), *back = NULL;

	store(t);
	store(other);
	assert_int_equal(cache_home_count("code-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	assert_rule(unwind_table__rule(back, ROWS_START), RSP_RULE(40));
}

/* The look-up by identity: another content is another file. */
static void another_identity_has_another_table(void **state)
{
	_unwind_table_ struct unwind_table *t = sample(1);
	_library_file_ struct library_file *later = NULL;
	struct unwind_table *back = NULL;

	store(t);
	assert_int_equal(truncate(path, 5), 0);
	assert_int_equal(library_file__try(path, &later), 0);
	assert_int_equal(unwind_load__stored(later, &back), -ENOENT);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	unwind_table__free(back);
}

static void functions_are_beside_the_table(void **state)
{
	/* One of 4 bytes at 0x1000. */
	uint8_t bytes[FUNCTIONS_HEADER + FUNCTIONS_RANGE + 2] = {0};
	_functions_ struct functions *f = NULL, *none = NULL;
	_unwind_table_ struct unwind_table *t = sample(1);
	struct function_range range;

	store(t);
	assert_int_equal(unwind_load__functions(file, &none), -ENOENT);
	bytes[9] = 0x10;
	bytes[16] = 1;
	bytes[20] = 2;
	bytes[FUNCTIONS_HEADER + 4] = 4;
	bytes[FUNCTIONS_HEADER + FUNCTIONS_RANGE] = 'f';
	functions__seal(bytes, sizeof(bytes));
	store_with(t, bytes, sizeof(bytes));
	assert_int_equal(unwind_load__functions(file, &f), 0);
	assert_true(functions__find(f, 0x1003, &range));
	assert_string_equal(range.symbol, "f");
	/* A file that is cut off, as by a full disk, is not used. */
	store_with(t, bytes, sizeof(bytes) - 1);
	assert_int_equal(unwind_load__functions(file, &none), -ENOENT);
	assert_null(none);
	/* Whoever has mapped the earlier one keeps it. */
	assert_true(functions__find(f, 0x1000, &range));
}

static void what_is_no_table_is_not_loaded(void **state)
{
	struct unwind_table *back = NULL;

	unwind_load__store(file, (const uint8_t *)"no table", 8);
	assert_int_equal(cache_home_count("code-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	unwind_load__store(file, (const uint8_t *)"", 0);
	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	assert_null(back);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stored_table_is_loaded),		  TEST(a_file_has_one_table),
		TEST(another_identity_has_another_table), TEST(functions_are_beside_the_table),
		TEST(what_is_no_table_is_not_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
