// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/recovered.h"
#include "plan/symbols/names.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/parts.s. */
static struct elf_image *img;

static int setup(void **state)
{
	return fixture_dir_setup(state) || image_of(fixture("parts.so"), &img) ? -1 : 0;
}

static int teardown(void **state)
{
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static bool has(const struct recovered *r, uint64_t addr)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->items[i].addr == addr)
			return true;
	return false;
}

static void names_and_parts_become_symbols(void **state)
{
	const uint64_t exported = symbol(img, "exported")->addr;
	const uint64_t other = symbol(img, "other")->addr, lone = symbol(img, "lone")->addr;
	const uint64_t undescribed = symbol(img, "undescribed")->addr;
	_bounds_ struct bounds bounds;
	_recovered_ struct recovered r = {0};
	const struct elf_symbol *syms;
	char name[32];
	size_t n;

	assert_int_equal(bounds__find(img, &bounds), 0);
	assert_int_equal(recovered__add(&r, exported, "first"), 0);
	assert_int_equal(recovered__add(&r, undescribed, "nowhere"), 0);
	assert_int_equal(recovered__add(&r, exported, "second.1"), 0);
	assert_true(has(&r, exported));
	assert_false(has(&r, other));
	assert_int_equal(recovered__give(&r, &bounds, img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	/* The function and its three parts have two names each; three more have none. */
	assert_int_equal(n, 11);
	assert_int_equal(symbol(img, "first")->addr, exported);
	assert_int_equal(symbol(img, "second.1")->addr, exported);
	assert_non_null(find_symbol(img, "first.cold"));
	assert_int_equal(symbol(img, "second.1.cold")->base_len, strlen("second.1"));
	snprintf(name, sizeof(name), "fn_%llx", (unsigned long long)other);
	assert_int_equal(symbol(img, name)->addr, other);
	snprintf(name, sizeof(name), "fn_%llx.cold", (unsigned long long)lone);
	assert_int_equal(symbol(img, name)->addr, lone);
	assert_null(find_symbol(img, "nowhere"));

	/* Again, with one more name. */
	assert_int_equal(recovered__add(&r, other, "third"), 0);
	assert_int_equal(recovered__give(&r, &bounds, img), 0);
	assert_int_equal(symbol(img, "third")->addr, other);
	assert_int_equal(symbol(img, "first")->addr, exported);
}

static void exported_functions_keep_their_names(void **state)
{
	_elf_image_ struct elf_image *stripped = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("parts_stripped.so"), &stripped), 0);
	assert_false(elf_image__has_symbols(stripped));
	assert_int_equal(dynsym__recover(stripped, &r), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.items[0].addr, r.items[1].addr);
	assert_string_equal(r.text + r.items[0].at, "exported");
	assert_string_equal(r.text + r.items[1].at, "also_exported");
}

/* ---- Recover query names --------------------------------------------------------------------- */

static struct name_info info_of(const struct recovered *r, uint32_t i, uint64_t addr)
{
	struct name_info info;

	assert_int_equal(r->items[i].addr, addr);
	name_classify(r->text + r->items[i].at, &info);
	return info;
}

static void assert_query(const struct name_info *info, enum name_kind kind)
{
	assert_int_equal(info->kind, kind);
	assert_int_equal(info->query_len, strlen("type_of"));
	assert_memory_equal(info->query, "type_of", info->query_len);
}

static void functions_have_the_names_that_a_plan_looks_for(void **state)
{
	__cleanup(recovered__destroy) struct recovered r = {0};
	struct name_info info[3];

	/* The text goes on behind the name. */
	assert_int_equal(query_names__wrappers(&r, "type_of_", 7, 0x10, 0x20), 0);
	assert_int_equal(query_names__provider(&r, "type_of_", 7, 0x30), 0);
	assert_int_equal(query_names__loader(&r, "type_of_", 7, 0x40), 0);
	assert_int_equal(r.n, 4);
	for (uint32_t i = 0; i < N_OF(info); i++)
		info[i] = info_of(&r, i, 0x10 * (i + 1));
	assert_query(&info[0], NAME_WRAPPER_NON_INCR);
	assert_query(&info[1], NAME_WRAPPER_INCR);
	assert_query(&info[2], NAME_PROVIDER);
	assert_non_null(strstr(r.text + r.items[3].at, "7type_of"));
}

/* ---- Recover query numbers ------------------------------------------------------------------- */

static void numbers_are_found_by_wrapper(void **state)
{
	_query_numbers_ struct query_numbers q = {0};

	assert_null(query_numbers__of(&q, 0x10));
	assert_int_equal(query_numbers__add(&q, (struct query_number){0x30, 7, -8}), 0);
	assert_int_equal(query_numbers__add(&q, (struct query_number){0x10, 9, -16}), 0);
	query_numbers__sort(&q);
	assert_int_equal(query_numbers__of(&q, 0x10)->number, 9);
	assert_int_equal(query_numbers__of(&q, 0x10)->vtable, -16);
	assert_int_equal(query_numbers__of(&q, 0x30)->number, 7);
	assert_null(query_numbers__of(&q, 0x20));
}

/* ---- Recover addresses ----------------------------------------------------------------------- */

/* Of the assembled tests/fixtures/vtables.s: 39 queries with four each, and 40 providers. */
static void functions_with_the_most_are_first(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_bounds_ struct bounds bounds = {0};
	struct address_counts counts;

	assert_int_equal(image_of(fixture("vtables.so"), &img), 0);
	assert_int_equal(bounds__find(img, &bounds), 0);
	assert_int_equal(addresses__count(img, &bounds, &counts), 0);
	assert_int_equal(counts.n, 2);
	assert_int_equal(counts.items[0].function, symbol(img, "make_table")->addr);
	assert_int_equal(counts.items[0].count, 4 * 39);
	assert_int_equal(counts.items[1].function, symbol(img, "defaults")->addr);
	assert_int_equal(counts.items[1].count, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exported_functions_keep_their_names),
		cmocka_unit_test(names_and_parts_become_symbols),
	};
	const struct CMUnitTest query_names[] = {
		cmocka_unit_test(functions_have_the_names_that_a_plan_looks_for),
		cmocka_unit_test(numbers_are_found_by_wrapper),
	};
	const struct CMUnitTest addresses_tests[] = {
		cmocka_unit_test(functions_with_the_most_are_first),
	};

	return cmocka_run_group_tests(tests, setup, teardown) +
	       cmocka_run_group_tests(query_names, NULL, NULL) +
	       cmocka_run_group_tests(addresses_tests, fixture_dir_setup, fixture_dir_teardown);
}
