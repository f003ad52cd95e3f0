// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/library.h"

#include "test.h"

static void it_copies_its_input(void **state)
{
	uint32_t labels[] = {7, 8}, guards[] = {9};
	char build_id[] = "abcd";
	struct library lib = {0};

	assert_int_equal(library__set(&lib, labels, 2, build_id, NULL), 0);
	assert_int_equal(library__set_guards(&lib, guards, 1), 0);
	labels[1] = guards[0] = 0;
	build_id[0] = 'x';
	assert_int_equal(lib.n_labels, 2);
	assert_int_equal(lib.labels[1], 8);
	assert_int_equal(lib.guards[0], 9);
	assert_string_equal(lib.build_id, "abcd");
	assert_null(lib.rustc_version);
	library__clear(&lib);
	assert_int_equal(lib.n_labels, 0);
}

static void a_second_record_replaces_the_first(void **state)
{
	const uint32_t label = 7;
	struct library lib = {0};

	assert_int_equal(library__set(&lib, &label, 1, "a", "1"), 0);
	assert_int_equal(library__set(&lib, &label, 0, NULL, NULL), 0);
	assert_int_equal(lib.n_labels, 0);
	assert_null(lib.build_id);
	library__clear(&lib);
}

static void a_process_gets_copies(void **state)
{
	struct trace_process p = {.build_id = strdup("old")};
	struct library lib = {0};

	assert_int_equal(library__set(&lib, NULL, 0, "a", "1"), 0);
	assert_int_equal(library__describe(&lib, &p), 0);
	library__clear(&lib);
	assert_string_equal(p.build_id, "a");
	assert_string_equal(p.rustc_version, "1");
	free(p.build_id);
	free(p.rustc_version);
}

static void keys_and_layout_are_copied(void **state)
{
	const uint32_t labels[] = {7, 8};
	uint8_t keys[] = {WIRE_KEY_UNIT, WIRE_KEY_DEF};
	struct plan_layout layout = {.parent = 12, .problem = (char *)"no root"};
	struct library lib = {0};

	assert_int_equal(library__set(&lib, labels, 2, NULL, NULL), 0);
	assert_null(lib.keys);
	assert_int_equal(library__set_keys(&lib, keys, &layout), 0);
	keys[1] = WIRE_KEY_UNKNOWN;
	layout.parent = 0;
	assert_int_equal(lib.keys[0], WIRE_KEY_UNIT);
	assert_int_equal(lib.keys[1], WIRE_KEY_DEF);
	assert_int_equal(lib.layout.parent, 12);
	/* The text is the plan's, which may be freed. */
	assert_null(lib.layout.problem);
	assert_int_equal(library__set_keys(&lib, keys, &layout), 0);
	assert_int_equal(lib.keys[1], WIRE_KEY_UNKNOWN);
	/* Another library has none until they are set. */
	assert_int_equal(library__set(&lib, labels, 1, NULL, NULL), 0);
	assert_null(lib.keys);
	assert_int_equal(lib.layout.wire.size, 0);
	library__clear(&lib);
	assert_null(lib.keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_copies_its_input),
		cmocka_unit_test(a_second_record_replaces_the_first),
		cmocka_unit_test(a_process_gets_copies),
		cmocka_unit_test(keys_and_layout_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
