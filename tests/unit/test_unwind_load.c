// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/load.h"

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

static void store(const struct unwind_table *t)
{
	_free_ uint8_t *bytes = NULL;
	size_t len;

	assert_int_equal(unwind_encode(t, &bytes, &len), 0);
	unwind_load__store(file, bytes, len);
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
	assert_int_equal(cache_home_count("unwind-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), 0);
	for (uint64_t addr = ROWS_START; addr < ROWS_START + 1100; addr++)
		assert_rule(unwind_table__rule(back, addr), unwind_table__rule(t, addr));
}

static void a_file_has_one_table(void **state)
{
	_unwind_table_ struct unwind_table *t = sample(1), *other = sample(5), *back = NULL;

	store(t);
	store(other);
	assert_int_equal(cache_home_count("unwind-"), 1);
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

static void what_is_no_table_is_not_loaded(void **state)
{
	struct unwind_table *back = NULL;

	unwind_load__store(file, (const uint8_t *)"no table", 8);
	assert_int_equal(cache_home_count("unwind-"), 1);
	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	unwind_load__store(file, (const uint8_t *)"", 0);
	assert_int_equal(unwind_load__stored(file, &back), -ENOENT);
	assert_null(back);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stored_table_is_loaded),
		TEST(a_file_has_one_table),
		TEST(another_identity_has_another_table),
		TEST(what_is_no_table_is_not_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
