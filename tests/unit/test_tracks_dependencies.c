// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/dependencies.h"

#include "test.h"
#include "../fixtures/names.h"

static struct dependencies all;
static struct names out;
static struct plan_layout layout;

static int setup(void **state)
{
	layout = names_layout();
	return 0;
}

static int teardown(void **state)
{
	dependencies__destroy(&all);
	names_clear(&out);
	return 0;
}

/* A crate with `n` definitions, all called `text` and below the root. */
static void add_all(uint64_t id, uint32_t n, const char *text)
{
	struct wire_symbols texts = names_texts(1);
	struct definitions d = {0};
	struct wire_piece r = names_piece(1, 0);

	names_symbol(&texts, SYMBOL_FIRST, text);
	names_root(&r);
	for (uint32_t i = 1; i < n; i++)
		names_row(&r, TAG_NAMED, SYMBOL_FIRST, i, 0);
	assert_int_equal(definitions__add(&d, &r), 0);
	assert_int_equal(definitions__add_symbols(&d, &texts), 0);
	assert_int_equal(dependencies__add_all(&all, id, &d, &layout), 0);
	definitions__clear(&d);
}

static void assert_string(uint64_t id, uint32_t index, const char *expected)
{
	const struct tracks_sink sink = names_sink(&out);
	uint32_t root = names_string(&out, "c", 0), string;

	assert_int_equal(dependencies__string(&all, id, root, index, &sink, &string), 0);
	if (expected)
		assert_string_equal(out.strings[string], expected);
	else
		assert_int_equal(string, TRACE_NO_STRING);
}

static void a_crate_that_was_compiled_is_known(void **state)
{
	add_all(7, 3, "x");
	assert_string(7, 0, "c");
	assert_string(7, 2, "c::x[2]");
	assert_string(7, 3, NULL);
	assert_string(8, 2, NULL);
}

static void the_last_table_of_a_crate_counts(void **state)
{
	add_all(7, 3, "x");
	add_all(7, 2, "y");
	assert_string(7, 1, "c::y[1]");
	assert_string(7, 2, NULL);
	add_all(7, 4, "z");
	assert_string(7, 3, "c::z[3]");
}

static void single_definitions_fill_in(void **state)
{
	assert_int_equal(dependencies__add(&all, 7, 0, PATHS_ROOT, "unused"), 0);
	assert_int_equal(dependencies__add(&all, 7, 9, 0, "nine"), 0);
	assert_int_equal(dependencies__add(&all, 7, 10, 9, NULL), 0);
	assert_int_equal(dependencies__add(&all, 7, 9, 0, "again"), 0);
	assert_string(7, 9, "c::nine");
	assert_string(7, 10, NULL);
	assert_string(7, 8, NULL);
	add_all(7, 3, "x");
	assert_string(7, 2, "c::x[2]");
	assert_string(7, 9, "c::nine");
}

static void a_text_is_kept_once(void **state)
{
	size_t before;

	assert_int_equal(dependencies__add(&all, 7, 0, PATHS_ROOT, "same"), 0);
	before = all.texts.size;
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(dependencies__add(&all, i, i, 0, "same"), 0);
	assert_int_equal(all.texts.size, before);
}

static void memory_is_limited(void **state)
{
	uint64_t id = 0;

	while (dependencies__bytes(&all) + 200 * sizeof(struct dependency_row) <
	       DEPENDENCIES_BYTES_MAX) {
		add_all(++id, 200, "x");
		assert_true(id < 1u << 20);
	}
	for (uint32_t i = 0; i < 1000; i++)
		add_all(++id, 200, "x");
	assert_true(dependencies__bytes(&all) <= DEPENDENCIES_BYTES_MAX);
	assert_string(1, 3, "c::x[3]");
	assert_string(id, 3, NULL);
}

/* Compilers that lie may name any number of crates. */
static void the_number_of_crates_is_limited(void **state)
{
	uint64_t id = 0;
	uint32_t n;

	while (dependencies__bytes(&all) + 2 * sizeof(struct dependency) < DEPENDENCIES_BYTES_MAX) {
		assert_int_equal(dependencies__add(&all, ++id, 1, 0, "x"), 0);
		assert_true(id < 1u << 22);
	}
	n = all.crates.n;
	assert_true(n * sizeof(struct dependency) < DEPENDENCIES_BYTES_MAX);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(dependencies__add(&all, ++id, 1, 0, "x"), 0);
	assert_true(all.crates.n < n + 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_crate_that_was_compiled_is_known),
		TEST(the_last_table_of_a_crate_counts),
		TEST(single_definitions_fill_in),
		TEST(a_text_is_kept_once),
		TEST(memory_is_limited),
		TEST(the_number_of_crates_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
