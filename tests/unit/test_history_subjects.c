// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/subjects.h"

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_history.h"
#include "test.h"

static struct store *s;
static struct history_rows newest;

static int make_store(void **state)
{
	if (directory_make(state) || store__open(directory_path("a.db"), STORE_WRITE, &s))
		return -1;
	for (unsigned int number = 1; number <= 2; number++) {
		struct history_compile *compiles;

		history_rows__clear(&newest);
		history_rows__init(&newest);
		sample_history(&newest, number);
		compiles = newest.rows[HISTORY_COMPILE];
		compiles[number - 1].cpu_ns *= 2;
		assert_int_equal(store__add(s, &newest), 0);
	}
	return 0;
}

static int remove_store(void **state)
{
	store__close(s);
	history_rows__clear(&newest);
	return directory_remove(state);
}

TEST_CASE(crates_are_those_of_the_build_by_cpu_time)
{
	_history_subjects_ struct history_subjects all = {}, one = {};

	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_CRATES, 10, &all), 0);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.names[0], "syn (build script)");
	assert_string_equal(all.names[1], "syn");
	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_CRATES, 1, &one), 0);
	assert_int_equal(one.n, 1);
}

TEST_CASE(queries_are_those_of_all_crates_by_self_time)
{
	_history_subjects_ struct history_subjects queries = {};

	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_QUERIES, 10, &queries), 0);
	assert_int_equal(queries.n, 3);
	assert_string_equal(queries.names[0], "LLVM_passes");
	assert_string_equal(queries.names[1], "mir_borrowck");
	assert_string_equal(queries.names[2], "typeck");
}

TEST_CASE(llvms_work_is_by_kind)
{
	_history_subjects_ struct history_subjects passes = {}, functions = {};

	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_PASSES, 10, &passes), 0);
	assert_int_equal(passes.n, 1);
	assert_string_equal(passes.names[0], "InstCombine");
	assert_int_equal(
		history_subjects__ask(s, &newest.build, HISTORY_FUNCTIONS_IN_LLVM, 10, &functions),
		0);
	assert_int_equal(functions.n, 1);
	assert_string_equal(functions.names[0], "syn::parse::Parser::next");
}

TEST_CASE(a_build_that_is_not_there_has_none)
{
	const struct history_build other = {.build = "0f1e2d3c-4b5a-4978-8695-000000000009"};
	_history_subjects_ struct history_subjects none = {};

	assert_int_equal(history_subjects__ask(s, &other, HISTORY_CRATES, 10, &none), 0);
	assert_int_equal(none.n, 0);
}

TEST_MAIN(make_store, remove_store)
