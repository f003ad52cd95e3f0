// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "options/trace_list.h"

#include "../fixtures/directory.h"
#include "../fixtures/output.h"

static int list(const char *word, struct trace_list *list)
{
	_output_ struct output o = {};
	int err = CAPTURED(&o, trace_list__init(list, word));

	assert_string_equal(o.text[0], "");
	if (err)
		assert_contains(o.text[1], "error: ");
	else
		assert_string_equal(o.text[1], "");
	return err;
}

static void commas_separate_files(void **state)
{
	_trace_list_ struct trace_list l;

	assert_int_equal(list("a.qpt,b,c.qpt", &l), 0);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.paths[0], "a.qpt");
	assert_string_equal(l.paths[1], "b");
	assert_string_equal(l.paths[2], "c.qpt");
}

static void empty_names_are_refused(void **state)
{
	static const char *const words[] = {"", ",", "a,", ",a", "a,,b"};

	for (size_t i = 0; i < N_OF(words); i++) {
		_trace_list_ struct trace_list l;

		assert_int_equal(list(words[i], &l), -EINVAL);
	}
}

static void a_directory_is_all_its_traces(void **state)
{
	_trace_list_ struct trace_list l = {}, none = {};

	assert_int_equal(list(directory, &none), -ENOENT);
	output_write(directory_path("b.qpt"), "");
	output_write(directory_path("a.qpt"), "");
	output_write(directory_path("notes.txt"), "");
	output_write(directory_path(".qpt"), "");
	assert_int_equal(list(directory, &l), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.paths[0], directory_path("a.qpt"));
	assert_string_equal(l.paths[1], directory_path("b.qpt"));
}

static void a_file_may_have_commas(void **state)
{
	_trace_list_ struct trace_list l;

	output_write(directory_path("a,b"), "");
	assert_int_equal(list(directory_path("a,b"), &l), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.paths[0], directory_path("a,b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_separate_files),
		cmocka_unit_test(empty_names_are_refused),
		cmocka_unit_test(a_directory_is_all_its_traces),
		cmocka_unit_test(a_file_may_have_commas),
	};

	return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
