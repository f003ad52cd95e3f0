// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/recovered.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/recover/dynsym.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exported_functions_keep_their_names),
		cmocka_unit_test(names_and_parts_become_symbols),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
