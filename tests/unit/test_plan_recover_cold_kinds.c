// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/cold_kinds.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

/* The findings in a variant of the assembled tests/fixtures/query_engine.s. */
struct result {
	struct elf_image *img;
	struct recovered names;
};

static struct result recovered(bool activities)
{
	struct result r = {0};

	assert_int_equal(image_of(fixture("query_engine_unnamed.so"), &r.img), 0);
	assert_int_equal(cold_kinds__are_unnamed(r.img), 1);
	assert_int_equal(cold_kinds__recover(r.img, activities, &r.names), 0);
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
	__cleanup(result__destroy) struct result r = recovered(false);

	assert_int_equal(kind_of(&r, "fn_provider"), NAME_COLD_PROVIDER);
	assert_int_equal(kind_of(&r, "fn_load"), NAME_COLD_LOAD);
	assert_int_equal(kind_of(&r, "fn_hash"), NAME_COLD_HASHING);
	assert_int_equal(kind_of(&r, "fn_size"), NAME_COLD_ARTIFACT);
	assert_int_equal(r.names.n, 5);
}

static void several_tests_may_lead_to_one_call(void **state)
{
	__cleanup(result__destroy) struct result r = recovered(false);

	assert_int_equal(kind_of(&r, "fn_blocked"), NAME_COLD_BLOCKED);
}

static void activities_are_named_apart(void **state)
{
	__cleanup(result__destroy) struct result r = recovered(true);

	assert_int_equal(kind_of(&r, "fn_activity"), NAME_COLD_ACTIVITY);
	assert_int_equal(r.names.n, 1);
}

static void what_is_called_for_several_kinds_or_untested_is_none(void **state)
{
	for (int activities = 0; activities < 2; activities++) {
		__cleanup(result__destroy) struct result r = recovered(activities);

		assert_int_equal(kind_of(&r, "fn_both"), NAME_OTHER);
		assert_int_equal(kind_of(&r, "fn_untested"), NAME_OTHER);
	}
}

static void a_library_that_names_them_needs_none(void **state)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(image_of(fixture("query_engine.so"), &img), 0);
	assert_int_equal(cold_kinds__are_unnamed(img), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tested_bit_shows_the_kind),
		cmocka_unit_test(several_tests_may_lead_to_one_call),
		cmocka_unit_test(activities_are_named_apart),
		cmocka_unit_test(what_is_called_for_several_kinds_or_untested_is_none),
		cmocka_unit_test(a_library_that_names_them_needs_none),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
