// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/bodies.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "base/array.h"
#include "plan/symbols/names.h"

static bool is_body(const char *name)
{
	struct name_info info;

	name_classify(name, &info);
	return info.kind == NAME_BODY_NON_INCR || info.kind == NAME_BODY_INCR;
}

/* Change the names of bodies into others, and note where bodies begin. */
static void hide_bodies(struct elf_image *img, uint64_t *entries, size_t *n_entries)
{
	const struct elf_symbol *syms;
	_free_ GElf_Sym *hidden = NULL;
	size_t n, size = 0, len = 0;
	char *names;

	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	for (size_t i = 0; i < n; i++)
		size += strlen(syms[i].name) + 1;
	hidden = calloc(n, sizeof(*hidden));
	names = malloc(size);
	assert_true(hidden && names);
	for (size_t i = 0; i < n; i++) {
		hidden[i] = (GElf_Sym){
			.st_name = (GElf_Word)len,
			.st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
			.st_shndx = SHN_ABS,
			.st_value = syms[i].addr,
			.st_size = syms[i].size,
		};
		strcpy(names + len, syms[i].name);
		if (is_body(syms[i].name)) {
			names[len] = 'x';
			if (!syms[i].name[syms[i].base_len] &&
			    !array__has_u64(entries, *n_entries, syms[i].addr))
				entries[(*n_entries)++] = syms[i].addr;
		}
		len += strlen(syms[i].name) + 1;
	}
	assert_int_equal(elf_image__take_symbols(img, hidden, n, names, len), 0);
}

static int recover(struct elf_image *img, struct recovered *r)
{
	_known_symbols_ struct known_symbols known;

	return known_symbols__find(img, &known) ?: bodies__recover(img, &known, r);
}

/* The assembled tests/fixtures/driver_v0.s. */
static void callers_of_the_cold_side_are_bodies(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};
	uint64_t entries[16];
	size_t n = 0;

	assert_int_equal(image_of(fixture("driver_v0.so"), &img), 0);
	hide_bodies(img, entries, &n);
	assert_true(n > 2);
	assert_int_equal(recover(img, &r), 0);
	assert_int_equal(r.n, n);
	for (uint32_t i = 0; i < r.n; i++) {
		struct name_info info;

		name_classify(r.text + r.items[i].at, &info);
		assert_int_equal(info.kind, NAME_BODY_UNKNOWN);
		assert_int_equal(info.part, NAME_PART_ENTRY);
		assert_true(array__has_u64(entries, n, r.items[i].addr));
	}
}

static void bodies_with_names_keep_them(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("driver_v0.so"), &img), 0);
	assert_int_equal(recover(img, &r), 0);
	assert_int_equal(r.n, 0);
}

static void without_a_cold_side_there_are_none(void **state)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("parts.so"), &img), 0);
	assert_int_equal(recover(img, &r), 0);
	assert_int_equal(r.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_of_the_cold_side_are_bodies),
		cmocka_unit_test(bodies_with_names_keep_them),
		cmocka_unit_test(without_a_cold_side_there_are_none),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
