// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/bodies.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "base/array.h"
#include "plan/symbols/known_symbols.h"

static bool is_body(const struct known_symbol *k)
{
	return k->info.part == NAME_PART_ENTRY &&
	       (k->info.kind == NAME_BODY_NON_INCR || k->info.kind == NAME_BODY_INCR);
}

/* The assembled tests/fixtures/driver_v0.s has names, by which the result is judged. */
static void callers_of_the_cold_side_are_bodies(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_known_symbols_ struct known_symbols known;
	_recovered_ struct recovered r = {0};
	uint32_t n = 0;

	assert_int_equal(image_of(fixture("driver_v0.so"), &img), 0);
	assert_int_equal(known_symbols__find(img, &known), 0);
	assert_int_equal(bodies__recover(img, &r), 0);
	for (uint32_t i = 0; i < r.n; i++) {
		struct name_info info;

		name_classify(r.text + r.items[i].at, &info);
		assert_int_equal(info.kind, NAME_BODY_UNKNOWN);
		assert_int_equal(info.part, NAME_PART_ENTRY);
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(r.items[k].addr, r.items[i].addr);
	}
	for (uint32_t i = 0; i < known.n; i++) {
		if (!is_body(&known.items[i]))
			continue;
		assert_true(recovered__has(&r, known.items[i].sym->addr));
		n++;
	}
	assert_true(n && r.n <= n);
}

static void without_a_cold_side_there_are_none(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("parts.so"), &img), 0);
	assert_int_equal(bodies__recover(img, &r), 0);
	assert_int_equal(r.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_of_the_cold_side_are_bodies),
		cmocka_unit_test(without_a_cold_side_there_are_none),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
