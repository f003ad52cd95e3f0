// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/cold_kinds.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

/* What is found in a variant of the assembled tests/fixtures/query_engine.s. */
struct result {
	struct elf_image *img;
	struct recovered names;
};

static struct result recovered(const char *name)
{
	struct result r = {0};

	assert_int_equal(image_of(fixture(name), &r.img), 0);
	assert_int_equal(cold_kinds__recover(r.img, &r.names), 0);
	return r;
}

static void result__destroy(struct result *r)
{
	recovered__destroy(&r->names);
	elf_image__free(r->img);
}

static enum name_kind kind_of(const struct result *r, const char *function)
{
	struct name_info info;

	for (uint32_t i = 0; i < r->names.n; i++) {
		if (r->names.items[i].addr != symbol(r->img, function)->addr)
			continue;
		name_classify(r->names.text + r->names.items[i].at, &info);
		assert_int_equal(info.part, NAME_PART_ENTRY);
		return info.kind;
	}
	return NAME_OTHER;
}

static void the_tested_bit_shows_the_kind(void **state)
{
	__cleanup(result__destroy) struct result r = recovered("query_engine_unnamed.so");

	assert_int_equal(kind_of(&r, "fn_provider"), NAME_COLD_PROVIDER);
	assert_int_equal(kind_of(&r, "fn_load"), NAME_COLD_LOAD);
	assert_int_equal(kind_of(&r, "fn_hash"), NAME_COLD_HASHING);
	assert_int_equal(r.names.n, 3);
}

static void what_is_called_for_several_kinds_or_untested_is_none(void **state)
{
	__cleanup(result__destroy) struct result r = recovered("query_engine_unnamed.so");

	assert_int_equal(kind_of(&r, "fn_both"), NAME_OTHER);
	assert_int_equal(kind_of(&r, "fn_untested"), NAME_OTHER);
}

static void a_library_that_names_them_is_left_alone(void **state)
{
	__cleanup(result__destroy) struct result r = recovered("query_engine.so");

	assert_int_equal(r.names.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tested_bit_shows_the_kind),
		cmocka_unit_test(what_is_called_for_several_kinds_or_untested_is_none),
		cmocka_unit_test(a_library_that_names_them_is_left_alone),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
